import type { ScheduleConfig } from './schedule.ts';

const MAX_STEPS = 100;
const MAX_REPLICAS = 256;

/**
 * A time-table such as `0s=1,30s=4,60s=1`: from a moment after the start on, so many replicas. Gives the
 * fault in words where it is none.
 */
export function readSchedule(text: string): ScheduleConfig | string {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > MAX_STEPS) return `it has ${parts.length} steps; at most ${MAX_STEPS}`;
  const steps: { fromMs: number; replicas: number }[] = [];
  for (const part of parts) {
    const match = /^(\d+(?:\.\d+)?)(ms|s|m)=(\d{1,3})$/.exec(part);
    if (match === null) return `"${part}" is not a step such as 30s=4`;
    const unit = { ms: 1, s: 1_000, m: 60_000 }[match[2] as 'ms' | 's' | 'm'];
    const step = { fromMs: Number(match[1]) * unit, replicas: Number(match[3]) };
    if (step.replicas > MAX_REPLICAS)
      return `"${part}" asks for more than ${MAX_REPLICAS} replicas`;
    const before = steps.at(-1);
    if (before === undefined && step.fromMs !== 0) return `the first step must be from 0s on`;
    if (before !== undefined && step.fromMs <= before.fromMs)
      return `"${part}" is not after the step before it`;
    steps.push(step);
  }
  return { steps };
}
