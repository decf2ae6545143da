import { Agent, request } from 'node:http';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

/** Whose spans a request holds, and how many of that process were dropped since its start. */
export const INSTANCE_HEADER = 'x-tachograph-instance';
export const DROPPED_HEADER = 'x-tachograph-dropped-spans';

/** Of silence; the local collector appends to a file. */
const TIMEOUT_MS = 5_000;

export interface FolderExporterOptions {
  /** Of the local cluster's collector, `http://127.0.0.1:PORT/v1/traces`. */
  readonly url: string;
  readonly instance: string;
  /** Spans of this process that were dropped since its start. */
  readonly droppedSpans: () => number;
}

/**
 * Spans to the collector of the local cluster, as OTLP/JSON over Node's own client: the standard
 * exporter's retries and time-outs would load three times as much code, for a way that does not leave
 * the process's machine.
 */
export class FolderExporter implements SpanExporter {
  readonly #options: FolderExporterOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(options: FolderExporterOptions) {
    this.#options = options;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#post(JsonTraceSerializer.serializeRequest(spans) ?? new Uint8Array()).then(
      () => done({ code: ExportResultCode.SUCCESS }),
      (error: unknown) => done({ code: ExportResultCode.FAILED, error: error as Error }),
    );
  }

  async forceFlush(): Promise<void> {}

  /** Says for the last time how many spans were dropped, if any were: no request told of the last ones. */
  async shutdown(): Promise<void> {
    if (this.#options.droppedSpans() > 0) {
      await this.#post(Buffer.from('{"resourceSpans":[]}')).catch(() => undefined);
    }
    this.#agent.destroy();
  }

  #post(body: Uint8Array): Promise<void> {
    const { url, instance, droppedSpans } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call = request(url, {
      agent: this.#agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        [INSTANCE_HEADER]: instance,
        [DROPPED_HEADER]: String(droppedSpans()),
      },
      timeout: TIMEOUT_MS,
    });
    call.once('response', (answer) => {
      answer.resume();
      const { statusCode = 0 } = answer;
      answer.once('end', () => {
        if (statusCode >= 200 && statusCode < 300) resolve();
        else reject(new Error(`the collector answered ${statusCode}`));
      });
      answer.once('error', reject);
    });
    call.once('timeout', () => call.destroy(new Error(`no answer for ${TIMEOUT_MS} ms`)));
    call.once('error', reject);
    call.end(body);
    return promise;
  }
}
