import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '#kernel/core/clock.ts';
import { errorBody, TachographError } from '#kernel/core/errors.ts';
import type { Log } from '#kernel/system/log.ts';
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
/** A caller that has not sent its whole request by then is cut off. */
const REQUEST_TIMEOUT_MS = 120_000;

/**
 * The one door to all Services: an HTTP proxy on 127.0.0.1 that streams both ways.
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

  private constructor(options: GatewayOptions) {
    this.#options = options;
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
      if (gone.signal.aborted) return;
      answerError(response, asExpected(error, this.#options.log));
    }
  }

  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
    gone: AbortSignal,
  ): Promise<void> {
    const url = request.url ?? '/';
    if (url === STATUS_PATH && request.method === 'GET') {
      answerJson(response, 200, await this.#options.status());
      return;
    }
    const { control } = this.#options;
    if (control !== undefined && isControl(url)) {
      await serveControl(request, control);
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
    const sent: SentRequest = { method, path: route.path, headers: request.rawHeaders, gone };
    let body: OutgoingBody | undefined;
    for (let tries = 1; ; tries++) {
      const slot = await this.#awaitSlot(upstream, gone);
      try {
        // Read with the slot in hand: what waits in the queue costs no memory.
        body ??= await outgoingBody(request, method);
        const answer = await send(sent, body, upstream, slot, tries < MAX_TRIES);
        if (answer !== 'again') {
          await passBack(answer, request, response);
          return;
        }
      } finally {
        slot.release();
      }
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
    throw new TachographError('SERVICE_STARTING', { service });
  }
}

const BODILESS = new Set(['GET', 'HEAD']);

/** A replica that has just ended cuts or refuses connections until the pool has noticed. */
const MAX_TRIES = 3;
const CUT_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly gone: AbortSignal;
}

type Answer = Awaited<ReturnType<Slot['pool']['request']>>;

/**
 * The answer's head, or `again` when the replica took no connection and the body can be sent once more,
 * or when it cut the connection of a GET or HEAD, which may be repeated whatever became of it.
 */
async function send(
  { method, path, headers, gone }: SentRequest,
  body: OutgoingBody,
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
    const harmless = refused
      ? !(body instanceof PassThrough)
      : CUT_CODES.has(code) && body === null;
    if (mayRepeat && harmless) return 'again';
    if (code === 'UND_ERR_HEADERS_TIMEOUT') {
      throw new TachographError('SERVICE_TIMEOUT', { service, limitMs: timeoutMs }, { cause });
    }
    throw new TachographError('SERVICE_UNREACHABLE', { service }, { cause });
  }
}

async function passBack(
  answer: Answer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const raw = answer.headers as unknown as readonly (string | Buffer)[];
  response.writeHead(answer.statusCode, forwardedHeaders(raw.map(String)));
  await pipeline(answer.body, response);
  // What the stage did not read is read here and dropped, so that the connection can go on.
  request.resume();
}

type OutgoingBody = Buffer | PassThrough | null;

/** Larger bodies, and those of unknown length, are passed on as they come in. */
const MAX_HELD_BYTES = 4_194_304;

/**
 * A body of moderate size is read first and sent as one piece. A stage that refuses it (413) answers
 * without reading it and closes; with a single write pending, the system hands us that answer before
 * the write's failure, whereas writing on piece by piece would meet the closed connection first.
 *
 * A stream is kept apart from the request itself: what breaks the one off must not take the other's
 * connection with it, because the answer has to go there.
 */
async function outgoingBody(request: IncomingMessage, method: string): Promise<OutgoingBody> {
  if (BODILESS.has(method)) return null;
  const bytes = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (bytes > MAX_HELD_BYTES) return request.pipe(new PassThrough());
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces, bytes);
}

function asExpected(error: unknown, log: Log): TachographError {
  if (error instanceof TachographError) return error;
  log.error('the gateway failed', { error: String(error) });
  return new TachographError('INTERNAL', {}, { cause: error });
}

function answerError(response: ServerResponse, error: TachographError): void {
  // Half an answer is out: the only honest end is a cut connection.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // The body of the request was not read to its end.
  response.setHeader('connection', 'close');
  if (error.kind === 'retry') response.setHeader('retry-after', RETRY_AFTER_S);
  answerJson(response, error.status, errorBody(error));
}

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
