import type { DeliveryTracing } from '#eventing/dispatch/delivery-tracing.ts';
import type { RequestTracing } from '#infra/local/data-path/request-tracing.ts';
import { SOFTWARE } from '#kernel/config/software.ts';
import { tracesUrl } from '#kernel/config/stage-config.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import { startProcessTracing, type ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import { deliverySpans } from './delivery-spans.ts';
import type { ReplicaStart } from './replica-start.ts';
import { requestSpans } from './request-spans.ts';
import { startCollector, type Collector } from './start-collector.ts';

/** `service.name` of gateway, activator, queue-proxies and dispatchers, which are one process. */
export const CLUSTER_SERVICE = 'local-cluster';

export interface ClusterTracingOptions {
  /** Where spans are kept; absent: only where the standard variables send them. */
  readonly spansDir: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly clock: Clock;
  /** Monotonic ms → epoch ms as spans have it. */
  readonly toEpochMs: (monotonicMs: number) => number;
  readonly log: Log;
}

/** How long the last spans may take at a stop. */
const FLUSH_MS = 2_000;

/** The cluster's own tracing, and the collector of everybody's. */
export class ClusterTracing {
  readonly deliveries: DeliveryTracing;
  readonly requests: RequestTracing;
  readonly #tracing: ProcessTracing;
  readonly #collector: Collector | undefined;
  readonly #starts = new Map<string, ReplicaStart>();

  private constructor(
    tracing: ProcessTracing,
    collector: Collector | undefined,
    toEpochMs: ClusterTracingOptions['toEpochMs'],
  ) {
    this.#tracing = tracing;
    this.#collector = collector;
    const starts = { of: (replica: string) => this.#starts.get(replica) };
    this.deliveries = deliverySpans(tracing, { starts, toEpochMs });
    this.requests = requestSpans(tracing, { starts, toEpochMs });
  }

  /** undefined: nothing is to be traced. Throws CONFIG_INVALID for a sampler that is none. */
  static async start(options: ClusterTracingOptions): Promise<ClusterTracing | undefined> {
    const { spansDir, env, pid, clock, toEpochMs, log } = options;
    const url = tracesUrl(
      env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? '',
      env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '',
    );
    if (spansDir === undefined && url === undefined) return undefined;
    const collector = spansDir === undefined ? undefined : await startCollector(spansDir, log);
    try {
      const tracing = startProcessTracing({
        service: CLUSTER_SERVICE,
        instance: `${CLUSTER_SERVICE}-${pid}`,
        software: SOFTWARE,
        pid,
        env,
        clock,
        nowMs: () => toEpochMs(clock.monotonicMs()),
        spansUrl: collector?.url,
        tracesUrl: url,
        log,
      });
      return new ClusterTracing(tracing, collector, toEpochMs);
    } catch (error) {
      await collector?.close();
      throw error;
    }
  }

  /** Where other processes send their spans; undefined: nowhere. */
  get spansUrl(): string | undefined {
    return this.#collector?.url;
  }

  /** Spans of this process that were lost. */
  get dropped(): number {
    return this.#tracing.dropped;
  }

  noteStart(start: ReplicaStart): void {
    this.#starts.set(start.replica, start);
  }

  /** The replica has gone: no request is served by it any more. */
  forget(replica: string): void {
    this.#starts.delete(replica);
  }

  /** After everybody who sends spans has ended. */
  async stop(): Promise<void> {
    await this.#tracing.stop(FLUSH_MS);
    await this.#collector?.close();
  }
}
