import { unreachable } from '#kernel/core/assert.ts';

/** What "50 ms" may mean. The last is no demand of the product: it is what many programs do instead. */
export const MEANINGS = ['work', 'work;rate=local', 'cpuTime', 'delay', 'wall clock loop'] as const;

export type Meaning = (typeof MEANINGS)[number];

/** A CPU as the demand finds it. */
export interface CpuCondition {
  readonly name: string;
  /** Of the reference CPU; known to the calibration that `rate=local` goes by. */
  readonly speed: number;
  /** Whether the demand gets the CPU in the ms that begins at `atMs`. */
  readonly isFree: (atMs: number) => boolean;
}

/** Turns of 5 ms with the neighbour: about what a scheduler does (3 to 4 ms), and even in 50 ms. */
export const CONDITIONS: readonly CpuCondition[] = [
  { name: 'alone, reference CPU', speed: 1, isFree: () => true },
  { name: 'with one busy neighbour', speed: 1, isFree: (atMs) => atMs % 10 >= 5 },
  { name: 'quota: a quarter of a CPU', speed: 1, isFree: (atMs) => atMs % 100 < 25 },
  { name: 'CPU of half the speed', speed: 0.5, isFree: () => true },
];

export type Phase = 'runs' | 'waits' | 'sleeps';

export interface Stretch {
  readonly phase: Phase;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Outcome {
  readonly stretches: readonly Stretch[];
  readonly wallMs: number;
  readonly cpuMs: number;
  /** In reference CPU-ms. */
  readonly work: number;
}

/** Longer than anything that 50 ms become here. */
const MAX_MS = 10_000;

/** Plays one demand of `amountMs` under one condition, ms by ms. */
export function simulateDemand(
  meaning: Meaning,
  { speed, isFree }: CpuCondition,
  amountMs: number,
): Outcome {
  const stretches: Stretch[] = [];
  let [wallMs, cpuMs] = [0, 0];
  const consumed = (): number => {
    switch (meaning) {
      case 'work':
        return cpuMs * speed;
      case 'work;rate=local':
      case 'cpuTime':
        return cpuMs;
      case 'delay':
      case 'wall clock loop':
        return wallMs;
      default:
        return unreachable(meaning);
    }
  };
  while (consumed() < amountMs && wallMs < MAX_MS) {
    const phase = meaning === 'delay' ? 'sleeps' : isFree(wallMs) ? 'runs' : 'waits';
    const last = stretches.at(-1);
    if (last?.phase === phase) stretches[stretches.length - 1] = { ...last, untilMs: wallMs + 1 };
    else stretches.push({ phase, fromMs: wallMs, untilMs: wallMs + 1 });
    wallMs += 1;
    if (phase === 'runs') cpuMs += 1;
  }
  return { stretches, wallMs, cpuMs, work: cpuMs * speed };
}
