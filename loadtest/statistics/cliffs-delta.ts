/**
 * Cliff's delta: the chance that a value of the first sample is larger than one of the second, less
 * the chance that it is smaller; −1 to 1, 0 = no difference. NaN where one is empty.
 *
 * Source: N. Cliff, "Dominance Statistics", 1993.
 */
export function cliffsDelta(first: readonly number[], second: readonly number[]): number {
  let balance = 0;
  for (const a of first) {
    for (const b of second) balance += Math.sign(a - b);
  }
  return balance / (first.length * second.length);
}

export type EffectSize = 'negligible' | 'small' | 'medium' | 'large';

/** Source: J. Romano et al., 2006: 0.147, 0.33 and 0.474 part the words. */
export function effectSize(delta: number): EffectSize {
  const size = Math.abs(delta);
  if (size < 0.147) return 'negligible';
  if (size < 0.33) return 'small';
  return size < 0.474 ? 'medium' : 'large';
}
