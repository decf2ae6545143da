import type { Decision } from './policy.ts';

/** A decision with what its policy does not speak of left open: no panic, no path, no hurry. */
export const plainDecision = (
  made: Pick<Decision, 'desired' | 'reason'> & Partial<Decision>,
): Decision => ({
  wanted: made.desired,
  limits: [],
  details: {},
  panicking: false,
  path: null,
  againAtMs: null,
  ...made,
});
