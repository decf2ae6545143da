import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorBody, TachographError } from '#kernel/core/errors.ts';
import type { Log } from '#kernel/system/log.ts';
import { findParent, type TraceFields } from '#kernel/telemetry/propagation.ts';
import type { BrokerKey } from '../broker/broker-names.ts';
import { brokerPath } from '../broker/broker-names.ts';
import type { CloudEvent } from '../contracts/cloud-event.ts';
import { eventFromHttp, MAX_EVENT_BYTES } from '../contracts/codec.ts';

/** What the ingress needs of a broker. */
export interface Publisher {
  publish(
    broker: BrokerKey,
    event: CloudEvent,
    trace?: TraceFields,
  ): Promise<{ readonly duplicate: boolean }>;
}

export interface IngressOptions {
  readonly brokers: readonly BrokerKey[];
  readonly publisher: Publisher;
  readonly log: Log;
  /** 0: any free port. */
  readonly port: number;
  /** Events being stored at once; one more is refused with 503 instead of queued. */
  readonly maxPublishing: number;
}

/** Counted since the start. accepted includes duplicates. */
export interface IngressStats {
  readonly accepted: number;
  readonly duplicates: number;
  readonly refused: number;
}

export interface Ingress {
  /** `http://127.0.0.1:PORT`, without the Broker's path. */
  readonly url: string;
  stats(): IngressStats;
  /** Takes no more connections and ends when the requests under way have been answered. */
  stop(): Promise<void>;
}

const RETRY_AFTER_S = 1;
const MAX_DISCARD_BYTES = 4 * 1024 * 1024;
/** A client that does not send its event within this time is cut off. */
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * `POST /<namespace>/<broker>` with one CloudEvent: 202 once the stream has it, a clear 4xx for what is
 * no event, 503 with Retry-After when it could not be stored. node:http: the body stays bytes, and
 * there is one route.
 */
export async function startIngress(options: IngressOptions): Promise<Ingress> {
  const state = new IngressState(options);
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void state.answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stats: () => state.stats(),
    stop: async () => {
      state.close();
      await close(server);
    },
  };
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });

class IngressState {
  readonly #brokers: ReadonlyMap<string, BrokerKey>;
  readonly #publisher: Publisher;
  readonly #log: Log;
  readonly #maxPublishing: number;
  #publishing = 0;
  #accepted = 0;
  #duplicates = 0;
  #refused = 0;
  #closing = false;

  constructor({ brokers, publisher, log, maxPublishing }: IngressOptions) {
    this.#brokers = new Map(brokers.map((broker) => [`/${brokerPath(broker)}`, broker]));
    this.#publisher = publisher;
    this.#log = log;
    this.#maxPublishing = maxPublishing;
  }

  /** From now on every answer ends its connection, so that the server can end. */
  close(): void {
    this.#closing = true;
  }

  stats(): IngressStats {
    return {
      accepted: this.#accepted,
      duplicates: this.#duplicates,
      refused: this.#refused,
    };
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const broker = this.#route(request);
      const body = await readBody(request);
      const event = eventFromHttp(request.headers, body);
      // The event's own place first: it names the span that emitted it, a proxy's header its hop.
      const { fields } = findParent({}, event.extensions);
      await this.#store(broker, event, fields ?? findParent(request.headers).fields);
      this.#accepted++;
      response.writeHead(202, { 'content-length': '0', ...this.#connection(request) }).end();
    } catch (error) {
      this.#refused++;
      this.#refuse(error, request, response);
    }
  }

  #route(request: IncomingMessage): BrokerKey {
    const path = (request.url ?? '').split('?', 1)[0] as string;
    const broker = this.#brokers.get(path);
    if (broker === undefined) throw new TachographError('BROKER_UNKNOWN', { path });
    const { method = '', headers } = request;
    if (method !== 'POST') throw new TachographError('BROKER_METHOD', { method });
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      throw new TachographError('BROKER_ENCODING', { value: encoding });
    }
    return broker;
  }

  async #store(broker: BrokerKey, event: CloudEvent, trace?: TraceFields): Promise<void> {
    if (this.#publishing >= this.#maxPublishing) {
      throw new TachographError('BROKER_BUSY', { limit: this.#maxPublishing });
    }
    this.#publishing++;
    try {
      const { duplicate } = await this.#publisher.publish(broker, event, trace);
      if (duplicate) this.#duplicates++;
    } finally {
      this.#publishing--;
    }
  }

  /** What is left of a refused body would be read as the next request. */
  #connection(request: IncomingMessage): { readonly connection?: string } {
    return this.#closing || !request.complete ? { connection: 'close' } : {};
  }

  #refuse(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    // The sender hung up while it was sending: there is nobody to answer.
    if (request.destroyed && !request.complete) return;
    const known =
      error instanceof TachographError
        ? error
        : new TachographError('INTERNAL', {}, { cause: error });
    if (known.kind === 'bug') this.#log.error('the ingress failed', { error: String(error) });
    const body = JSON.stringify(errorBody(known));
    response.writeHead(known.status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...(known.kind === 'retry' ? { 'retry-after': String(RETRY_AFTER_S) } : {}),
      ...(known.code === 'BROKER_METHOD' ? { allow: 'POST' } : {}),
      ...this.#connection(request),
    });
    response.end(body);
  }
}

/**
 * The body, or EVENT_TOO_LARGE. What is too large is read to its end and thrown away, within reason:
 * a sender that is cut off while it sends never sees the answer.
 */
function readBody(request: IncomingMessage): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > MAX_DISCARD_BYTES) return Promise.reject(tooLarge(announced));
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_EVENT_BYTES) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      if (bytes > MAX_DISCARD_BYTES) {
        request.pause();
        reject(tooLarge(bytes));
      }
    });
    request.on('end', () => {
      if (bytes > MAX_EVENT_BYTES) reject(tooLarge(bytes));
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.on('error', reject);
    request.on('close', () => {
      // Every request closes; an error made for each, with its stack, is 4 % of the ingress's work.
      if (!request.readableEnded) reject(new Error('the sender closed the connection'));
    });
  });
}

const tooLarge = (bytes: number): TachographError =>
  new TachographError('EVENT_TOO_LARGE', { bytes, maxBytes: MAX_EVENT_BYTES });
