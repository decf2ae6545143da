/** More digits than any number of a DBC has a use for: 64 bits have 20. */
const MAX_DIGITS = 40;

const DECIMAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * A number of a DBC file without the rounding of a double where it is an integer, however that is
 * written: 18446744073709551615, 0xFFFFFFFFFFFFFFFF and 1.8446744073709551615E19 are one bigint.
 * Everything else, and an integer of more than 40 digits, is the nearest double.
 */
export function exactNumber(text: string): number | bigint {
  const rounded = Number(text);
  // A safe integer that is not the nearest of something else: 3, 3.0, 3e0.
  if (Math.abs(rounded) < Number.MAX_SAFE_INTEGER) return rounded;
  const hex = /^([+-]?)(0[xX][0-9a-fA-F]+)$/.exec(text);
  if (hex !== null) return signed(hex[1] ?? '', BigInt(hex[2] ?? '0'));
  const match = DECIMAL.exec(text);
  if (match === null) return rounded;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  const zeros = Number(exponent) - fraction.length + digits.length - significant.length;
  if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return rounded;
  return signed(sign, BigInt(significant) * 10n ** BigInt(zeros));
}

const signed = (sign: string, magnitude: bigint): bigint => (sign === '-' ? -magnitude : magnitude);
