import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../system/log.ts';

/** Spans that may wait for their turn; what ends beyond is dropped and counted. */
export const MAX_WAITING_SPANS = 2_048;
/** Serializing is synchronous: 512 spans stop the event loop 1.3 ms, 4,096 stop it 10 ms. */
const BATCH_SPANS = 512;
const DELAY_MS = 5_000;
const EXPORT_TIMEOUT_MS = 10_000;

/**
 * Batches of spans to an exporter that is loaded with the first batch, not with the process's start; with
 * an account of what does not arrive. A collector that fails is told once, and once when it is back.
 */
export class CountingExport implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #load: () => Promise<SpanExporter>;
  readonly #log: Log;
  #exporter: Promise<SpanExporter> | undefined;
  /** Ended and not yet handed to the exporter. */
  #waiting = 0;
  #inFlight = 0;
  #delivered = 0;
  #dropped = 0;
  #isFailing = false;

  constructor(load: () => Promise<SpanExporter>, log: Log) {
    this.#load = load;
    this.#log = log;
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) => void this.#export(spans).then(done),
        // One that could not be loaded has been told of, and has nothing to shut down.
        shutdown: async () => (await this.#exporter?.catch(() => undefined))?.shutdown(),
      },
      maxExportBatchSize: BATCH_SPANS,
      maxQueueSize: MAX_WAITING_SPANS,
      scheduledDelayMillis: DELAY_MS,
      exportTimeoutMillis: EXPORT_TIMEOUT_MS,
    });
  }

  get delivered(): number {
    return this.#delivered;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Ended, and neither delivered nor dropped yet. */
  get undelivered(): number {
    return this.#waiting + this.#inFlight;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= MAX_WAITING_SPANS) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  /** Never rejects: a failure is the result's. */
  async #export(spans: ReadableSpan[]): Promise<ExportResult> {
    this.#waiting -= spans.length;
    this.#inFlight += spans.length;
    const result = await this.#send(spans);
    this.#inFlight -= spans.length;
    const failed = result.code !== ExportResultCode.SUCCESS;
    if (failed) this.#dropped += spans.length;
    else this.#delivered += spans.length;
    if (failed && !this.#isFailing) {
      this.#log.warn('spans cannot be sent and are dropped', { why: result.error?.message });
    }
    if (!failed && this.#isFailing) {
      this.#log.info('spans can be sent again', { dropped: this.#dropped });
    }
    this.#isFailing = failed;
    return result;
  }

  async #send(spans: ReadableSpan[]): Promise<ExportResult> {
    try {
      const exporter = await (this.#exporter ??= this.#load());
      return await new Promise((resolve) => exporter.export(spans, resolve));
    } catch (error) {
      return { code: ExportResultCode.FAILED, error: error as Error };
    }
  }
}
