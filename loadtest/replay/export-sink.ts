import { createServer } from 'node:http';
import { eventType } from '#eventing/contracts/catalog.ts';
import { eventFromHttp, MAX_EVENT_BYTES } from '#eventing/contracts/codec.ts';
import { parseEventData } from '#eventing/contracts/event-data.ts';
import { errorBody, TachographError } from '#kernel/core/errors.ts';
import { traceArrival } from '#loadtest/tracing/arrival-span.ts';
import type { ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import type { IncomingMessage, Server } from 'node:http';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';

/** A subscriber outside the pipeline: it sees `dataset.exported.v1` as a user of the data does. */
export interface ExportSink {
  /** Where a Trigger sends events to. */
  readonly uri: string;
  close(): Promise<void>;
}

/**
 * The Trigger that brings announcements of exported data to a URI. `brokerUrl` ends in the Broker's
 * namespace and name, `http://127.0.0.1:PORT/tachograph/default`, as a Knative broker's address does.
 */
export function exportTrigger(name: string, brokerUrl: string, uri: string): object {
  const [namespace, broker] = new URL(brokerUrl).pathname.split('/').filter((part) => part !== '');
  return {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Trigger',
    metadata: { name, namespace },
    spec: {
      broker,
      filter: { attributes: { type: eventType('dataset.exported.v1') } },
      subscriber: { uri },
    },
  };
}

/**
 * Listens on a free port of 127.0.0.1. `onExport` is called before the event is acknowledged; an event
 * of another type, or one that cannot be read, is answered with a 4xx.
 */
export async function listenForExports(
  onExport: (data: DatasetExported) => void,
  tracing?: ProcessTracing,
): Promise<ExportSink> {
  const server = createServer((request, response) => {
    const answer = (status: number, body = ''): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body);
    };
    receive(request, onExport, tracing).then(
      () => answer(200),
      (error: unknown) => {
        const known = error instanceof TachographError;
        answer(known ? error.status : 500, known ? JSON.stringify(errorBody(error)) : '');
      },
    );
  });
  const port = await listen(server);
  return {
    uri: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function receive(
  request: IncomingMessage,
  onExport: (data: DatasetExported) => void,
  tracing: ProcessTracing | undefined,
): Promise<void> {
  const startMs = tracing?.nowMs() ?? 0;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_EVENT_BYTES) {
      throw new TachographError('EVENT_TOO_LARGE', { bytes, maxBytes: MAX_EVENT_BYTES });
    }
    chunks.push(chunk);
  }
  const event = eventFromHttp(request.headers, Buffer.concat(chunks));
  const data = parseEventData('dataset.exported.v1', event);
  onExport(data);
  const { headers } = request;
  if (tracing !== undefined) traceArrival(tracing, { startMs, headers, event, data });
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve(address.port);
      else reject(new Error('the event sink listens on no port'));
    });
  });
}
