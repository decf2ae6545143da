import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../system/log.ts';
import { CountingExport } from './counting-export.ts';

export interface TargetOptions {
  readonly instance: string;
  /** The local cluster's collector, which keeps spans in a folder; undefined: none. */
  readonly spansUrl: string | undefined;
  /** A collector of the user's own: the whole URL, with `/v1/traces`; undefined: none. */
  readonly tracesUrl: string | undefined;
  readonly log: Log;
  /** Absent: OTLP over HTTP, in protobuf. */
  readonly loadExporter?: () => Promise<SpanExporter>;
}

/**
 * Where a process's spans go. Each target has a bounded queue and an account of its own, so that a
 * collector of the user's that is down takes nothing from the folder.
 */
export class SpanTargets {
  readonly processors: readonly CountingExport[];
  readonly #log: Log;

  constructor(options: TargetOptions) {
    const { spansUrl, tracesUrl, instance, log } = options;
    this.#log = log;
    const processors: CountingExport[] = [];
    if (spansUrl !== undefined) {
      const droppedSpans = (): number => folder.dropped;
      const folder: CountingExport = new CountingExport(async () => {
        const { FolderExporter } = await import('./folder-exporter.ts');
        return new FolderExporter({ url: spansUrl, instance, droppedSpans });
      }, log);
      processors.push(folder);
    }
    if (tracesUrl !== undefined) {
      const load = options.loadExporter ?? (() => otlpExporter(tracesUrl));
      processors.push(new CountingExport(load, log));
    }
    this.processors = processors;
  }

  /** Spans that a target did not get. */
  get dropped(): number {
    return this.processors.reduce((sum, { dropped }) => sum + dropped, 0);
  }

  get delivered(): number {
    return this.processors.reduce((sum, { delivered }) => sum + delivered, 0);
  }

  /** Sends what is waiting, for at most so long; what is left then is lost, and said so. */
  async stop(limitMs: number, clock: Clock): Promise<void> {
    const limit = new AbortController();
    // An export that failed has been told of; what it lost is told below.
    const ends = this.processors.map((target) => target.shutdown().catch(() => undefined));
    await Promise.race([
      Promise.all(ends),
      clock.sleep(limitMs, limit.signal).catch(() => undefined),
    ]);
    limit.abort();
    const undelivered = this.processors.reduce((sum, target) => sum + target.undelivered, 0);
    const lost = this.dropped + undelivered;
    if (lost > 0) this.#log.warn('spans were not delivered', { lost, delivered: this.delivered });
  }
}

/** Loaded with the first batch: no cold start waits for it. */
async function otlpExporter(url: string): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter({ url });
}
