/** Relative size of the last term of a series or fraction that is still taken in. */
const PRECISION = 1e-15;
/** 200 are enough for shapes up to about 10,000; the loops end there in any case. */
const MAX_TERMS = 2_000;
/** Stands for 0 in a denominator of Lentz's method. */
const TINY = 1e-300;

const LANCZOS = [
  0.999_999_999_999_809_93, 676.520_368_121_885_1, -1_259.139_216_722_402_8, 771.323_428_777_653_13,
  -176.615_029_162_140_59, 12.507_343_278_686_905, -0.138_571_095_265_720_12,
  9.984_369_578_019_572e-6, 1.505_632_735_149_311_6e-7,
];

/** ln Γ(x) for x > 0. Source: C. Lanczos' approximation, g = 7, nine terms; about 15 digits. */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const base = x + 6.5;
  const sum = LANCZOS.reduce(
    (total, coefficient, index) =>
      total + (index === 0 ? coefficient : coefficient / (x - 1 + index)),
    0,
  );
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(sum);
}

/**
 * The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 − P, each without cancellation in
 * its tail. Source: W. Press et al., "Numerical Recipes", 6.2: series below a + 1, Lentz's continued
 * fraction above.
 */
export function gammaShares(
  a: number,
  x: number,
): { readonly lower: number; readonly upper: number } {
  if (x <= 0) return { lower: 0, upper: 1 };
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < MAX_TERMS && term > sum * PRECISION; n++) {
      term *= x / (a + n);
      sum += term;
    }
    return { lower: scale * sum, upper: 1 - scale * sum };
  }
  const fraction = lentz(x + 1 - a, (n) => ({ over: -n * (n - a), plus: x + 1 - a + 2 * n }));
  return { lower: 1 - scale / fraction, upper: scale / fraction };
}

/**
 * The regularised incomplete beta function I_x(a, b). Source: "Numerical Recipes", 6.4; the symmetry
 * I_x(a, b) = 1 − I_{1−x}(b, a) keeps the fraction where it converges fast.
 */
export function betaShare(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(b, a, 1 - x);
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  );
  const fraction = lentz(1, (n) => {
    const m = Math.floor(n / 2);
    const over =
      n % 2 === 0
        ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
        : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    return { over, plus: 1 };
  });
  return front / (a * fraction);
}

/** b0 + a1 / (b1 + a2 / (b2 + …)) by Lentz's method, as modified by Thompson and Barnett. */
function lentz(
  first: number,
  term: (n: number) => { readonly over: number; readonly plus: number },
): number {
  let value = first === 0 ? TINY : first;
  let numerator = value;
  let denominator = 0;
  for (let n = 1; n < MAX_TERMS; n++) {
    const { over, plus } = term(n);
    denominator = 1 / nonZero(plus + over * denominator);
    numerator = nonZero(plus + over / numerator);
    const change = numerator * denominator;
    value *= change;
    if (Math.abs(change - 1) < PRECISION) break;
  }
  return value;
}

const nonZero = (value: number): number => (Math.abs(value) < TINY ? TINY : value);
