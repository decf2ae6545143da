import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import type { EventData, EventName, StageName } from '#eventing/contracts/catalog.ts';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../core/clock.ts';
import type { Store } from '../store/store.ts';
import type { Log } from '../system/log.ts';
import type { StageMetrics } from '../telemetry/metrics/stage-metrics.ts';
import type { RequestSpan } from '../telemetry/stage-telemetry.ts';

/** What became of an event. Exceptions are for bugs (500) and for retryable failures of the store or sink (503). */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly reason: string }
  /** A valid event that cannot be used: kept with its reason, answered 2xx. */
  | { readonly kind: 'parked'; readonly reason: string; readonly detail: string };

export const DONE: Outcome = { kind: 'done' };

export interface Emission<N extends EventName = EventName> {
  readonly name: N;
  /** The id of the fact it announces; the event's id is `<stage>/<fact id>` and a cause where one is given. */
  readonly factId: string;
  readonly subject: string;
  readonly data: EventData[N];
  /** Set for a deliberate re-emission only (un-park, reprocess, reconcile). */
  readonly cause?: string;
}

export interface StageContext {
  readonly clock: Clock;
  readonly store: Store;
  readonly log: Log;
  /** Version of the software, for provenance. */
  readonly software: string;
  /** The span of the work at hand, for its phases and links; absent where nothing is traced. */
  readonly span?: () => RequestSpan | undefined;
  /** What the stage counts of itself; absent in tests. */
  readonly metrics?: StageMetrics;
  /** Resolves after the sink has taken the event (202); rejects with EMIT_FAILED. */
  emit<N extends EventName>(emission: Emission<N>, cause: CloudEvent | undefined): Promise<void>;
}

export interface StageDefinition {
  readonly name: StageName;
  /** Full types this stage handles; every other type is parked. */
  readonly consumes: readonly string[];
  /** `signal` aborts when the caller's connection closes or the process must stop at once. */
  handle(event: CloudEvent, context: StageContext, signal: AbortSignal): Promise<Outcome>;
  /**
   * What it does in place of `handle` when a demand stands for its work (`@instead`): the least fact and
   * the normal event. Absent where nothing can stand for the work.
   */
  emulate?(event: CloudEvent, context: StageContext, signal: AbortSignal): Promise<Outcome>;
  /** REST routes beside the event entry. */
  routes?(app: FastifyInstance, context: StageContext): void | Promise<void>;
}
