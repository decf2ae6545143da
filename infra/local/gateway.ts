import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '#kernel/core/clock.ts';
import { errorBody, TachographError } from '#kernel/core/errors.ts';
import type { Log } from '#kernel/system/log.ts';
import { BodyReader, type BodyLimits } from './body-reader.ts';
import { checkRequest } from './check-request.ts';
import { isControl, serveControl, type GatewayControl } from './gateway-control.ts';
import { forwardedHeaders } from './gateway-headers.ts';
import { findRoute, routeName, type RouteTable } from './gateway-route.ts';
import type { ServiceManifest } from './manifests/service-manifest.ts';
import { Upstream, type Slot } from './upstream.ts';

export interface GatewayOptions {
  readonly services: readonly ServiceManifest[];
  /** 0: any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a request waits for a slot at a ready replica. */
  readonly holdMs: number;
  /** Other than the usual bounds on request bodies. */
  readonly bodyLimits?: Partial<BodyLimits>;
  /** Answered at STATUS_PATH. */
  readonly status: () => Promise<unknown>;
  /** Answers the control paths; absent: they are unknown. */
  readonly control?: GatewayControl;
}

/** No Service can have this name, so that the path is nobody else's. */
export const STATUS_PATH = '/-/status';

/** What Retry-After says: a restart takes about this long. */
const RETRY_AFTER_S = '1';
/** An idle connection may stay longer than any client's own keep-alive, so that clients close first. */
const KEEP_ALIVE_MS = 65_000;
const MAX_CONNECTIONS = 4_096;
/** A caller that has not sent its whole request by then is cut off, however steadily it trickles. */
const REQUEST_TIMEOUT_MS = 120_000;
/** The largest that any stage takes (a CAN database); a larger body is refused here. */
const MAX_BODY_BYTES = 8_388_608;
/** Of all requests that are read, wait or are at work. */
const MAX_HELD_BYTES = 67_108_864;
const MAX_READING = 1_024;
const BODY_IDLE_MS = 10_000;
/** So much of a refused body is read and dropped, for the caller to see the answer; then it is cut off. */
const MAX_DISCARDED_BYTES = 67_108_864;

/**
 * The one door to all Services: an HTTP proxy on 127.0.0.1 that reads a request whole, and streams the
 * answer.
 *
 * A body is read before the request asks for a slot: a caller that sends slowly, or never, costs the
 * Service nothing. It also goes to the stage as one piece, so that a stage's early refusal (413, 401),
 * given without reading, arrives: with a single write pending the system hands us the answer before
 * the write's failure, whereas writing on piece by piece would meet the closed connection first.
 *
 * A request to a Service that is (re)starting or busy waits in a bounded queue; then 503 with
 * Retry-After. When the caller goes away, the request to the stage is broken off too, so that no stage
 * works for nobody.
 */
export class Gateway {
  readonly #server: Server;
  readonly #upstreams = new Map<string, Upstream>();
  readonly #table: RouteTable;
  readonly #options: GatewayOptions;
  readonly #bodies: BodyReader;

  private constructor(options: GatewayOptions) {
    this.#options = options;
    this.#bodies = new BodyReader(options.clock, {
      maxBytes: MAX_BODY_BYTES,
      maxReading: MAX_READING,
      maxHeldBytes: MAX_HELD_BYTES,
      idleMs: BODY_IDLE_MS,
      ...options.bodyLimits,
    });
    const namespaces = new Map<string, string>();
    for (const { name, namespace, containerConcurrency, timeoutMs } of options.services) {
      namespaces.set(name, namespace);
      this.#upstreams.set(name, new Upstream(name, containerConcurrency, timeoutMs));
    }
    this.#table = { namespaces };
    const limits = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: REQUEST_TIMEOUT_MS };
    this.#server = createServer(limits, (request, response) => {
      void this.#serve(request, response);
    });
    this.#server.on('connect', refuseTunnel);
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  static async start(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    gateway.#server.once('error', reject);
    gateway.#server.listen(options.port, '127.0.0.1', resolve);
    try {
      await promise;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause;
      throw new TachographError('PORT_IN_USE', { port: options.port }, { cause });
    }
    return gateway;
  }

  /** `http://127.0.0.1:PORT`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  upstream(service: string): Upstream {
    const upstream = this.#upstreams.get(service);
    if (upstream !== undefined) return upstream;
    throw new TachographError('SERVICE_UNKNOWN', { value: service, known: this.#known() });
  }

  /** Closes the door at once; requests still under way are cut. */
  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream.close()));
    await promise;
  }

  #known(): string {
    return [...this.#upstreams.keys()].sort().join(', ');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort(new Error('The caller closed the connection'));
    });
    try {
      await this.#forward(request, response, gone.signal);
    } catch (error) {
      // A body that breaks off is told before the answer's connection is.
      if (gone.signal.aborted || request.socket.destroyed) return;
      answerError(request, response, asExpected(error, this.#options.log));
    }
  }

  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
    gone: AbortSignal,
  ): Promise<void> {
    checkRequest(request);
    const url = request.url ?? '/';
    if (url === STATUS_PATH && request.method === 'GET') {
      answerJson(response, 200, await this.#options.status());
      return;
    }
    const { control } = this.#options;
    if (control !== undefined && isControl(url)) {
      await serveControl(request, control, async () => {
        const body = await this.#bodies.read(request);
        body.release();
        return body.bytes;
      });
      response.writeHead(204).end();
      return;
    }
    const route = findRoute(this.#table, request.headers.host ?? '', url);
    if (route === undefined) {
      const value = routeName(url);
      throw new TachographError('SERVICE_UNKNOWN', { value, known: this.#known() });
    }
    const upstream = this.upstream(route.service);
    const method = request.method ?? 'GET';
    const body = await this.#bodies.read(request);
    const sent: SentRequest = {
      method,
      path: route.path,
      headers: request.rawHeaders,
      body: body.bytes,
      gone,
    };
    try {
      for (let tries = 1; ; tries++) {
        const slot = await this.#awaitSlot(upstream, gone);
        try {
          const answer = await send(sent, upstream, slot, tries < MAX_TRIES);
          if (answer !== 'again') {
            await passBack(answer, response);
            return;
          }
        } finally {
          slot.release();
        }
      }
    } finally {
      body.release();
    }
  }

  async #awaitSlot(upstream: Upstream, gone: AbortSignal): Promise<Slot> {
    const atOnce = upstream.tryAcquire();
    if (atOnce !== undefined) return atOnce;
    const waiting = new AbortController();
    const limit = new AbortController();
    const { clock, holdMs } = this.#options;
    const timer = clock.sleep(holdMs, waiting.signal).then(
      () => limit.abort(),
      () => undefined,
    );
    const slot = await upstream.acquire(AbortSignal.any([gone, limit.signal]));
    waiting.abort();
    await timer;
    if (typeof slot === 'object') return slot;
    const service = upstream.name;
    if (slot === 'overloaded') {
      throw new TachographError('SERVICE_OVERLOADED', { service, queued: upstream.queued });
    }
    if (upstream.ready > 0) {
      throw new TachographError('SERVICE_BUSY', { service, limitMs: holdMs });
    }
    throw new TachographError('SERVICE_STARTING', { service });
  }
}

const REPEATABLE = new Set(['GET', 'HEAD']);

/** A replica that has just ended cuts or refuses connections until the pool has noticed. */
const MAX_TRIES = 3;
const CUT_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
/** The client library's words for a request that cannot be written as HTTP. */
const INVALID_CODES = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
]);

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer | null;
  readonly gone: AbortSignal;
}

type Answer = Awaited<ReturnType<Slot['pool']['request']>>;

/**
 * The answer's head, or `again` when the replica took no connection, or when it cut that of a GET or
 * HEAD, which may be repeated whatever became of it.
 */
async function send(
  { method, path, headers, body, gone }: SentRequest,
  { name: service, timeoutMs }: Upstream,
  slot: Slot,
  mayRepeat: boolean,
): Promise<Answer | 'again'> {
  try {
    return await slot.pool.request({
      method,
      path,
      headers: forwardedHeaders(headers),
      body,
      signal: gone,
      responseHeaders: 'raw',
    });
  } catch (cause) {
    const code = String((cause as { code?: unknown }).code);
    const refused = code === 'ECONNREFUSED';
    if (refused) slot.dropReplica();
    const harmless = refused || (CUT_CODES.has(code) && REPEATABLE.has(method));
    if (mayRepeat && harmless) return 'again';
    if (code === 'UND_ERR_HEADERS_TIMEOUT') {
      throw new TachographError('SERVICE_TIMEOUT', { service, limitMs: timeoutMs }, { cause });
    }
    if (INVALID_CODES.has(code)) {
      const detail = (cause as Error).message;
      throw new TachographError('REQUEST_INVALID', { detail }, { cause });
    }
    throw new TachographError('SERVICE_UNREACHABLE', { service }, { cause });
  }
}

async function passBack(answer: Answer, response: ServerResponse): Promise<void> {
  const raw = answer.headers as unknown as readonly (string | Buffer)[];
  response.writeHead(answer.statusCode, forwardedHeaders(raw.map(String)));
  await pipeline(answer.body, response);
}

function asExpected(error: unknown, log: Log): TachographError {
  if (error instanceof TachographError) return error;
  log.error('the gateway failed', { error: String(error) });
  return new TachographError('INTERNAL', {}, { cause: error });
}

function answerError(
  request: IncomingMessage,
  response: ServerResponse,
  error: TachographError,
): void {
  // Half an answer is out: the only honest end is a cut connection.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (error.code === 'BODY_TIMEOUT') response.setHeader('connection', 'close');
  else discardRest(request);
  if (error.kind === 'retry') response.setHeader('retry-after', RETRY_AFTER_S);
  answerJson(response, error.status, errorBody(error));
}

/**
 * A caller that still writes when its connection closes may lose the answer, so what is left of its
 * body is read and dropped, within bounds (REQUEST_TIMEOUT_MS is the other one).
 */
function discardRest(request: IncomingMessage): void {
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > MAX_DISCARDED_BYTES) request.destroy();
  });
}

/** CONNECT never becomes a request with a response; without an answer here the caller sees nothing. */
function refuseTunnel(_: IncomingMessage, socket: Duplex): void {
  const detail = 'CONNECT is not served here; send the request itself';
  const body = JSON.stringify(errorBody(new TachographError('REQUEST_INVALID', { detail })));
  // A caller that has gone already needs no answer.
  socket.on('error', () => socket.destroy());
  const length = Buffer.byteLength(body);
  const type = 'Content-Type: application/json; charset=utf-8';
  const head = `HTTP/1.1 400 Bad Request\r\n${type}\r\nContent-Length: ${length}`;
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy());
}

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
