import type { Piece } from './fit-rate.ts';
import type { ThreadAccount } from './thread-account.ts';

/**
 * How a burst is ended. `hybrid` is the product's; the others are what is commonly done:
 * `open` runs the steps that calibration says, `wall` and `naive` look at a clock after each 25 µs, the
 * wall clock or the thread's CPU clock as Node gives it.
 */
export const LOOPS = ['hybrid', 'open', 'wall', 'naive'] as const;

export type Loop = (typeof LOOPS)[number];

/** Bursts of one size, one after the other, on one thread. */
export interface Series {
  readonly loop: Loop;
  readonly nominalMs: number;
  readonly n: number;
  readonly stepsPerMs: number;
}

/** One burst by the burner's own exact CPU clock and the wall clock, both read around it. */
export interface Burst {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** What a request made the thread consume by the kernel's account, read from outside; null: not known. */
export interface Accounted<T> {
  readonly value: T;
  readonly account: ThreadAccount | null;
}

/** A thread that burns on request. */
export interface BurnStand {
  readonly clock: { readonly kind: string; readonly stepUs: number } | null;
  /** Why there is no clock; then nothing but `nothing` can be asked. */
  readonly clockFault: string | null;
  rate(): Promise<Accounted<readonly Piece[]>>;
  series(series: Series): Promise<Accounted<readonly Burst[]>>;
  /** A request without a burst: what asking costs by itself. */
  nothing(): Promise<Accounted<undefined>>;
  close(): Promise<void>;
}

/** What goes to the thread. */
export type BurnRequest =
  | { readonly kind: 'rate' }
  | { readonly kind: 'series'; readonly series: Series }
  | { readonly kind: 'nothing' };

/** What comes back: `ready` once, before anything is asked. */
export type BurnReply =
  | {
      readonly kind: 'ready';
      /** The system's id of the thread; null where there is no /proc. */
      readonly tid: number | null;
      readonly clock: BurnStand['clock'];
      readonly clockFault: string | null;
    }
  | { readonly kind: 'rate'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'series'; readonly bursts: readonly Burst[] }
  | { readonly kind: 'nothing' };
