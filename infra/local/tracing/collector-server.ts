import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DROPPED_HEADER, INSTANCE_HEADER } from '#kernel/telemetry/folder-exporter.ts';
import type { SpanIntake } from './span-intake.ts';

/** Where OTLP over HTTP has traces. */
export const TRACES_PATH = '/v1/traces';
/** Answers with the account so far: what `tracing.json` will say. */
export const ACCOUNT_PATH = '/account';
/** An exporter sends 512 spans at once, about 0.6 MB. */
const MAX_BODY_BYTES = 16_777_216;
const MAX_CONNECTIONS = 1_024;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_INSTANCE_CHARACTERS = 256;

export interface CollectorServer {
  /** The whole URL for an exporter. */
  readonly url: string;
  close(): Promise<void>;
}

/** Takes OTLP/JSON over HTTP on 127.0.0.1. */
export async function startCollectorServer(intake: SpanIntake): Promise<CollectorServer> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    answer(request, response, intake);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${TRACES_PATH}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function answer(request: IncomingMessage, response: ServerResponse, intake: SpanIntake): void {
  const refuse = (status: number, message: string): void => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ message }));
  };
  const { method, url, headers } = request;
  if (url === ACCOUNT_PATH && method === 'GET') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(intake.account()));
    return;
  }
  if (url !== TRACES_PATH) return refuse(404, `only ${TRACES_PATH} is here`);
  if (method !== 'POST') return refuse(405, 'use POST');
  if (headers['content-type']?.split(';', 1)[0] !== 'application/json') {
    return refuse(415, 'send OTLP as JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json');
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= MAX_BODY_BYTES) pieces.push(piece);
    else pieces.length = 0;
  });
  request.on('error', () => undefined);
  request.on('end', () => {
    if (bytes > MAX_BODY_BYTES) return refuse(413, `send at most ${MAX_BODY_BYTES} bytes`);
    const taken = intake.take({
      body: Buffer.concat(pieces, bytes),
      instance: textOf(headers[INSTANCE_HEADER]).slice(0, MAX_INSTANCE_CHARACTERS),
      dropped: textOf(headers[DROPPED_HEADER]),
    });
    if (taken.kind === 'refused') return refuse(400, taken.why);
    const partialSuccess = { rejectedSpans: taken.rejected, errorMessage: 'the file is full' };
    const said = taken.rejected === 0 ? {} : { partialSuccess };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  });
}

const textOf = (value: string | string[] | undefined): string =>
  typeof value === 'string' ? value : '';
