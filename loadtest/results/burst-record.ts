import type { BurstRow } from '#kernel/runtime/burst-log.ts';

/** One burst of a stage's demand: a line of `bursts.ndjson`. */
export interface BurstRecord extends BurstRow {
  readonly stage: string;
  /** The process it ran in. `n` counts within it. */
  readonly instance: string;
}

/** What a stage was told to consume, and how, as the stage itself says. */
export interface StageDemandConfig {
  readonly demand: string;
  readonly placement: string;
  readonly seed: number;
}
