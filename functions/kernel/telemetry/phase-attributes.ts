import type { Attributes } from '@opentelemetry/api';
import { formatMarks, type Phase, type PhaseMark } from '../core/phases.ts';
import { ATTRIBUTE, phaseAttribute } from './names.ts';

/** A span's phases: the marks as text, and the sum of each phase in ms. */
export function phaseAttributes(marks: readonly PhaseMark[]): Attributes {
  const attributes: Attributes = { [ATTRIBUTE.phases]: formatMarks(marks) };
  const sumUs = new Map<Phase, number>();
  for (const { phase, lengthUs } of marks) {
    sumUs.set(phase, (sumUs.get(phase) ?? 0) + lengthUs);
  }
  for (const [phase, us] of sumUs) attributes[phaseAttribute(phase)] = us / 1_000;
  return attributes;
}
