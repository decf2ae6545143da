import { isAbsolute, relative, resolve } from 'node:path';
import { fixedPolicy, type FixedConfig } from '#infra/autoscaling/fixed/fixed.ts';
import { hpaPolicy } from '#infra/autoscaling/hpa/hpa.ts';
import type { HpaConfig } from '#infra/autoscaling/hpa/hpa-config.ts';
import { kedaPolicy } from '#infra/autoscaling/keda/keda.ts';
import type { KedaConfig } from '#infra/autoscaling/keda/keda-config.ts';
import { kpaPolicy } from '#infra/autoscaling/kpa/kpa.ts';
import type { KpaConfig } from '#infra/autoscaling/kpa/kpa-config.ts';
import { schedulePolicy, type ScheduleConfig } from '#infra/autoscaling/schedule/schedule.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';
import type { Scaling } from '#infra/local/manifests/scaling-manifest.ts';
import { unreachable } from '#kernel/core/assert.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { CustomEngine, type CustomConfig } from './custom-engine.ts';
import { BuiltInEngine, type PolicyEngine } from './policy-engine.ts';

/** What moves a workload by itself; undefined for one that the node-based policy moves with others. */
export function engineFor(scaling: Scaling, root: string, clock: Clock): PolicyEngine | undefined {
  switch (scaling.policy) {
    case 'kpa':
      return new BuiltInEngine(kpaPolicy, scaling.config);
    case 'hpa':
      return new BuiltInEngine(hpaPolicy, scaling.config);
    case 'keda':
      return new BuiltInEngine(kedaPolicy, scaling.config);
    case 'fixed':
      return new BuiltInEngine(fixedPolicy, scaling.config);
    case 'schedule':
      return new BuiltInEngine(schedulePolicy, scaling.config);
    case 'custom':
      return new CustomEngine({ ...scaling, root, clock });
    case 'node':
      return undefined;
    default:
      return unreachable(scaling);
  }
}

/** Replicas at the very start, before any decision. */
export function initialReplicas(scaling: Scaling, ownReplicas: number | null): number {
  switch (scaling.policy) {
    case 'kpa': {
      const { initialScale, minScale, maxScale } = scaling.config;
      return Math.min(Math.max(initialScale, minScale), maxScale ?? Infinity);
    }
    case 'hpa':
      return scaling.config.minReplicas;
    case 'schedule':
      return scaling.config.steps[0]?.replicas ?? 0;
    case 'custom':
      return scaling.bounds.min;
    case 'fixed':
      return scaling.config.replicas;
    // As a Deployment begins; KEDA takes them away at its first poll where there is nothing to do.
    case 'keda':
      return ownReplicas ?? 1;
    // By its own loop, at once.
    case 'node':
      return 0;
    default:
      return unreachable(scaling);
  }
}

/** A record may come from anywhere: a program that it names is only run where manifests may name one. */
function requireInside(root: string, module: string): void {
  const inside = relative(root, resolve(root, module));
  if (inside !== '' && !inside.startsWith('..') && !isAbsolute(inside)) return;
  const detail = `its policy "${module}" is not in the repository`;
  throw new TachographError('RECORD_INVALID', { file: 'decisions.ndjson', detail });
}

type PolicyRow = Extract<DecisionRow, { kind: 'policy' }>;

/**
 * The engine of a recorded policy row. What stands in a record is taken as it is: it was checked when it
 * was a manifest.
 */
export function openEngine(row: PolicyRow, root: string, clock: Clock): PolicyEngine {
  const { policy, config, module, periodMs } = row;
  switch (policy) {
    case 'kpa':
      return new BuiltInEngine(kpaPolicy, config as KpaConfig);
    case 'hpa':
      return new BuiltInEngine(hpaPolicy, config as HpaConfig);
    case 'keda':
      return new BuiltInEngine(kedaPolicy, config as KedaConfig);
    case 'fixed':
      return new BuiltInEngine(fixedPolicy, config as FixedConfig);
    case 'schedule':
      return new BuiltInEngine(schedulePolicy, config as ScheduleConfig);
    default: {
      if (module !== null) {
        requireInside(root, module);
        const custom = config as CustomConfig;
        return new CustomEngine({ root, module, periodMs, clock, ...custom });
      }
      const detail = `there is no policy "${policy}"`;
      throw new TachographError('RECORD_INVALID', { file: 'decisions.ndjson', detail });
    }
  }
}
