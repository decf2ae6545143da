import { must, unreachable } from '../core/assert.ts';
import type { Random } from '../core/random.ts';
import type { Amount } from './demand.ts';

/** One value of an amount, in its own unit (ms or bytes). Never negative. */
export function drawAmount(amount: Amount, random: Random): number {
  switch (amount.kind) {
    case 'constant':
      return amount.value;
    case 'uniform':
      return amount.min + (amount.max - amount.min) * random.next();
    case 'normal':
      return truncatedNormal(amount.mean, amount.sd, random);
    case 'exponential':
      return -amount.mean * Math.log(openUnit(random));
    case 'lognormal': {
      const { location, scale } = logParameters(amount.mean, amount.cv);
      return Math.exp(location + scale * standardNormal(random));
    }
    case 'empirical':
      return must(amount.values[random.below(amount.values.length)], 'an amount has values');
    default:
      return unreachable(amount);
  }
}

/** The mean of what `drawAmount` gives. For a normal amount that is the mean after truncation. */
export function meanOf(amount: Amount): number {
  switch (amount.kind) {
    case 'constant':
      return amount.value;
    case 'uniform':
      return (amount.min + amount.max) / 2;
    case 'normal':
      return truncatedMean(amount.mean, amount.sd);
    case 'exponential':
    case 'lognormal':
      return amount.mean;
    case 'empirical':
      return amount.values.reduce((sum, value) => sum + value, 0) / amount.values.length;
    default:
      return unreachable(amount);
  }
}

/** Uniform in (0, 1]: a logarithm of it is finite. */
const openUnit = (random: Random): number => 1 - random.next();

/** Box-Muller, one of the pair: a draw then never depends on how many came before it. */
const standardNormal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(openUnit(random))) * Math.cos(2 * Math.PI * random.next());

/** 64 misses in a row have a chance of 2^-64 at most: a mean is never negative, so half lies above 0. */
const MAX_TRIES = 64;

function truncatedNormal(mean: number, sd: number, random: Random): number {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const value = mean + sd * standardNormal(random);
    if (value >= 0) return value;
  }
  return 0;
}

/** mean + sd * phi(a) / (1 - Phi(a)) with a = -mean/sd. For mean 0, sd 1 it is sqrt(2/pi) = 0.798. */
function truncatedMean(mean: number, sd: number): number {
  if (sd === 0) return mean;
  const density = Math.exp(-((mean / sd) ** 2) / 2) / Math.sqrt(2 * Math.PI);
  return mean + (sd * density) / standardNormalBelow(mean / sd);
}

/** Share of the standard normal below x >= 0, to 1e-7. Abramowitz and Stegun, formula 26.2.17. */
function standardNormalBelow(x: number): number {
  const t = 1 / (1 + 0.231_641_9 * x);
  const coefficients = [0.319_381_53, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
  const polynomial = coefficients.reduceRight((sum, coefficient) => (sum + coefficient) * t, 0);
  return 1 - (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}

/** The log-normal with mean m and coefficient of variation c: scale² = ln(1 + c²), location = ln m - scale²/2. */
function logParameters(mean: number, cv: number): { location: number; scale: number } {
  const variance = Math.log1p(cv * cv);
  return { location: Math.log(mean) - variance / 2, scale: Math.sqrt(variance) };
}
