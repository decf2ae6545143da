import type { Attributes } from '@opentelemetry/api';
import { formatMarks, type Phase, type PhaseMark } from '../core/phases.ts';
import { ATTRIBUTE, phaseAttribute } from './names.ts';

/** Shorter sums are left to the marks: each costs a µs to send, and nobody looks for them. */
const LEAST_SUM_US = 100;

/** A span's phases: the marks as text, and the sum of each phase that lasted 0.1 ms or more, in ms. */
export function phaseAttributes(marks: readonly PhaseMark[]): Attributes {
  const attributes: Attributes = { [ATTRIBUTE.phases]: formatMarks(marks) };
  const sumUs = new Map<Phase, number>();
  for (const { phase, lengthUs } of marks) {
    sumUs.set(phase, (sumUs.get(phase) ?? 0) + lengthUs);
  }
  for (const [phase, us] of sumUs) {
    if (us >= LEAST_SUM_US) attributes[phaseAttribute(phase)] = us / 1_000;
  }
  return attributes;
}
