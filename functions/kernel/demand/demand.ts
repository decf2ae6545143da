/** What a stage is asked to consume for an event, and what it did consume. Times in ms, sizes in bytes. */

/** A constant, or a distribution to draw from. `ms` or `bytes` by the demand it belongs to. */
export type Amount =
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  /** Truncated at 0. */
  | { readonly kind: 'normal'; readonly mean: number; readonly sd: number }
  | { readonly kind: 'exponential'; readonly mean: number }
  | { readonly kind: 'lognormal'; readonly mean: number; readonly cv: number }
  /** Drawn with equal chance from the values of a file. */
  | { readonly kind: 'empirical'; readonly file: string; readonly values: readonly number[] };

/** Before the stage's own work, after it, or instead of it. */
export type Place = 'before' | 'after' | 'instead';

export type Demand =
  /** Reference CPU-ms: a fixed number of kernel steps, at a constant rate or at this machine's own. */
  | {
      readonly kind: 'work';
      readonly ms: Amount;
      readonly place: Place;
      readonly rate: 'reference' | 'local';
    }
  /** Until the thread has consumed the CPU time. */
  | { readonly kind: 'cpuTime'; readonly ms: Amount; readonly place: Place }
  | { readonly kind: 'delay'; readonly ms: Amount; readonly place: Place }
  /** Bytes held, every page touched, for a time. */
  | {
      readonly kind: 'memory';
      readonly bytes: Amount;
      readonly holdMs: number;
      readonly place: Place;
    }
  /** Bytes of seeded noise added to what the stage emits or stores. */
  | { readonly kind: 'payload'; readonly bytes: Amount; readonly place: Place };

export type DemandKind = Demand['kind'];

/** One execution of one demand: `wallMs = cpuMs + readyMs + restMs` to well below a ms, measured. */
export interface BurstReport {
  readonly kind: DemandKind;
  readonly place: Place;
  /** Asked: ms, or bytes for memory and payload. */
  readonly nominal: number;
  /** Where it ran. */
  readonly mode: 'inline' | 'worker';
  /** Kernel steps; 0 for demands without CPU work. */
  readonly steps: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Waiting on the run queue, by the kernel's own counter; null where the system has none. */
  readonly readyMs: number | null;
  readonly restMs: number | null;
  readonly involuntarySwitches: number;
  /** Steps per CPU-ms over the reference rate; null without CPU work. */
  readonly rate: number | null;
  /** Waited for a free burner before it began; not part of `wallMs`. */
  readonly queuedMs: number;
  /** It was cut short by an abort. */
  readonly aborted: boolean;
}
