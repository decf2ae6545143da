import type { KpaConfig } from '#infra/autoscaling/kpa/kpa-config.ts';
import {
  scaleFor,
  type ActiveStatus,
  type ZeroInputs,
} from '#infra/autoscaling/kpa/zero-machine.ts';
import { defaultConfig } from './example-config.ts';

/** Figures of knative/serving pkg/reconciler/autoscaling/kpa/scaler_test.go, commit 98e5ef90. */
export const WINDOW_MS = 300_000;
export const GRACE_MS = 60_000;
const PROGRESS_DEADLINE_MS = 121_000;
export const ACTIVATION_MS = PROGRESS_DEADLINE_MS + 30_000;
const NOW_MS = 10_000_000;

/** One row of its tables. */
export interface ScalerRow {
  readonly label: string;
  /** Replicas before, 1, and the desired scale, 0, where the row says nothing else. */
  readonly from?: number;
  readonly to?: number;
  readonly want: number;
  /** Whether upstream patches the replicas. */
  readonly scales: boolean;
  /** Condition, and for how long; activating from now on where upstream's row says nothing. */
  readonly status?: readonly [ActiveStatus, number];
  readonly config?: Partial<KpaConfig>;
  /** Ages instead of moments: how long the activator has been in the path. */
  readonly proxyForMs?: number;
  readonly inputs?: Partial<Omit<ZeroInputs, 'proxySinceMs'>>;
  readonly againInMs?: number;
}

/**
 * What a row wants. Upstream counts call-backs; here the moment of the next call is compared. Where
 * upstream starts an asynchronous probe, each second, the next call is one second away.
 */
interface Outcome {
  readonly want: number;
  readonly scales: boolean;
  readonly againInMs: number | null;
}

export const wantedOf = ({ want, scales, againInMs }: ScalerRow): Outcome => ({
  want,
  scales,
  againInMs: againInMs ?? null,
});

export function scaledBy(row: ScalerRow): Outcome {
  const config = defaultConfig({
    stableWindowMs: WINDOW_MS,
    scaleToZeroGracePeriodMs: GRACE_MS,
    progressDeadlineMs: PROGRESS_DEADLINE_MS,
    targetBurstCapacity: 200,
    ...row.config,
  });
  const [status, forMs] = row.status ?? ['activating', 0];
  const inputs: ZeroInputs = {
    status,
    statusSinceMs: NOW_MS - forMs,
    path: row.proxyForMs === undefined ? 'serve' : 'proxy',
    proxySinceMs: row.proxyForMs === undefined ? null : NOW_MS - row.proxyForMs,
    initialised: false,
    activatorAnswers: true,
    ...row.inputs,
  };
  const { desired, apply, againAtMs } = scaleFor(config, inputs, row.to ?? 0, NOW_MS);
  return {
    want: desired,
    scales: apply && desired !== (row.from ?? 1),
    againInMs: againAtMs === null ? null : againAtMs - NOW_MS,
  };
}
