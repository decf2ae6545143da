import type { DataPath } from '#infra/autoscaling/policy.ts';
import type { KpaConfig } from './kpa-config.ts';
import type { ActiveStatus } from './zero-machine.ts';

/**
 * The activator leaves the path when replicas are wanted and the burst to be prepared for fits into
 * them; 0 counts as fitting. Source: knative/serving pkg/reconciler/autoscaling/kpa/kpa.go, ReconcileKind.
 */
export const pathMode = (want: number, excessBurstCapacity: number): DataPath =>
  want > 0 && excessBurstCapacity >= 0 ? 'serve' : 'proxy';

const MIN_ACTIVATORS = 2;

/**
 * Activators in the path. One replica of 100, 200 to be prepared for, 100 each: (100 + 200) / 100 = 3.
 * Source: kpa.go, computeNumActivators.
 */
export function activatorsFor(
  { targetBurstCapacity, totalPerReplica, activatorCapacity }: KpaConfig,
  ready: number,
): number {
  if (targetBurstCapacity === 0) return MIN_ACTIVATORS;
  const capacity = ready * totalPerReplica + Math.max(targetBurstCapacity, 0);
  return Math.max(MIN_ACTIVATORS, Math.ceil(capacity / activatorCapacity));
}

/**
 * The condition "Active" after a reconciliation, and whether the initial scale was reached.
 *
 * Source: kpa.go, computeActiveCondition with activeThreshold. `want` −1: not known.
 */
export function nextStatus(
  config: KpaConfig,
  status: ActiveStatus,
  initialised: boolean,
  { want, ready }: { readonly want: number; readonly ready: number },
): { readonly status: ActiveStatus; readonly initialised: boolean } {
  const min = config.reachable ? config.minScale : 0;
  const threshold = initialised ? Math.max(1, min) : Math.max(min, config.initialScale);
  const reached = initialised || ready >= threshold;
  if (want === 0 || threshold === 0) return { status: 'inactive', initialised: reached };
  if (want < 0 && status === 'inactive') return { status, initialised: reached };
  return { status: ready < threshold ? 'activating' : 'active', initialised: reached };
}
