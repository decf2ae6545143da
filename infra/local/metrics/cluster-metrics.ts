import type { EventingStats } from '#eventing/dispatch/start-eventing.ts';
import type { ReplicaStart } from '#infra/local/tracing/replica-start.ts';
import type { ServiceStatus } from '#infra/local/replicas/pool-workload.ts';
import { MeterBook, type Observe } from '#kernel/telemetry/metrics/meter-book.ts';
import {
  METRIC,
  METRIC_ATTRIBUTE,
  type MetricRow,
} from '#kernel/telemetry/metrics/metric-names.ts';

/** A stage's way as it stands. */
export interface PathState {
  readonly name: string;
  readonly queued: number;
  readonly inFlight: number;
}

/** What the cluster is at a moment. */
export interface ClusterState {
  readonly services: readonly ServiceStatus[];
  /** By Service: replicas that the policy wants. */
  readonly desired: Readonly<Record<string, number>>;
  readonly paths: readonly PathState[];
  readonly eventing: EventingStats;
  readonly spansDropped: number;
}

const STATES = ['pending', 'launching', 'ready', 'backoff', 'draining'] as const;

/** The local cluster's own metrics: queues, replicas, starts, deliveries. */
export class ClusterMetrics {
  readonly book = new MeterBook();
  #state: ClusterState | undefined;

  constructor() {
    this.#observeReplicas();
    this.#observeEventing();
    this.book.observe(METRIC.spansDropped, (note) => note(this.#state?.spansDropped ?? 0));
  }

  /** What the next collection tells. */
  update(state: ClusterState): void {
    this.#state = state;
  }

  noteStart(service: string, { decidedMs, readyMs }: ReplicaStart): void {
    const labels = { [METRIC_ATTRIBUTE.stage]: service };
    this.book.add(METRIC.replicaStarts, 1, labels);
    this.book.record(METRIC.replicaStartDuration, (readyMs - decidedMs) / 1_000, labels);
  }

  #observeReplicas(): void {
    const { book } = this;
    book.observe(METRIC.replicas, (note) => {
      for (const { name, replicas } of this.#state?.services ?? []) {
        for (const state of STATES) {
          const count = replicas.filter(({ phase }) => phase === state).length;
          note(count, { [METRIC_ATTRIBUTE.stage]: name, [METRIC_ATTRIBUTE.state]: state });
        }
      }
      for (const [name, desired] of Object.entries(this.#state?.desired ?? {})) {
        note(desired, { [METRIC_ATTRIBUTE.stage]: name, [METRIC_ATTRIBUTE.state]: 'desired' });
      }
    });
    const ofPaths =
      (value: (path: PathState) => number): Observe =>
      (note) => {
        for (const path of this.#state?.paths ?? []) {
          note(value(path), { [METRIC_ATTRIBUTE.stage]: path.name });
        }
      };
    book.observe(
      METRIC.requestsQueued,
      ofPaths(({ queued }) => queued),
    );
    book.observe(
      METRIC.requestsActive,
      ofPaths(({ inFlight }) => inFlight),
    );
  }

  #observeEventing(): void {
    type Stats = EventingStats['triggers'][string];
    const ofTriggers = (metric: MetricRow, value: (stats: Stats) => number): void =>
      this.book.observe(metric, (note) => {
        for (const [name, stats] of Object.entries(this.#state?.eventing.triggers ?? {})) {
          note(value(stats), { [METRIC_ATTRIBUTE.trigger]: name });
        }
      });
    ofTriggers(METRIC.delivered, ({ delivered }) => delivered);
    ofTriggers(METRIC.retried, ({ retried }) => retried);
    ofTriggers(METRIC.deadLettered, ({ deadLettered }) => deadLettered);
    ofTriggers(METRIC.dropped, ({ dropped }) => dropped);
    ofTriggers(METRIC.redelivered, ({ duplicates }) => duplicates);
    ofTriggers(METRIC.deliveriesActive, ({ inFlight }) => inFlight);
    ofTriggers(METRIC.backlog, ({ pending }) => pending);
    this.book.observe(METRIC.accepted, (note) => note(this.#state?.eventing.ingress.accepted ?? 0));
    this.book.observe(METRIC.refused, (note) => note(this.#state?.eventing.ingress.refused ?? 0));
  }
}
