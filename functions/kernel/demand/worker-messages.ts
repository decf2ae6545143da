import type { BurstRequest } from './burner.ts';
import type { BurstReport } from './demand.ts';

/** What a burning worker is started with. */
export interface WorkerStart {
  readonly needsClock: boolean;
  /** One Int32 in shared memory: 1 while the burst in progress is to end. */
  readonly abortFlag: Int32Array;
}

/** Main thread to worker: burn this, or end. */
export type WorkerOrder = BurstRequest | 'close';

/** Worker to main thread. `ready` comes first and once; `failed` names a code of the error table where there is one. */
export type WorkerAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly code: string | null; readonly detail: string }
  | { readonly kind: 'burned'; readonly report: BurstReport };
