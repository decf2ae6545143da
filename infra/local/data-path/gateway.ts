import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '#kernel/core/clock.ts';
import { errorBody, TachographError } from '#kernel/core/errors.ts';
import { PROMETHEUS_TYPE } from '#kernel/telemetry/metrics/prometheus-type.ts';
import type { Log } from '#kernel/system/log.ts';
import { BodyReader, type BodyLimits } from './body-reader.ts';
import { checkRequest } from './check-request.ts';
import { isControl, serveControl, type GatewayControl } from './gateway-control.ts';
import { forwardedHeaders } from './gateway-headers.ts';
import { findRoute, routeName, type Route, type RouteTable } from './gateway-route.ts';
import { passAnswer } from './pass-answer.ts';
import type { GatewaySpan, RequestTracing } from './request-tracing.ts';
import type { ServicePath } from './service-path.ts';

/** A Service that the gateway leads to. */
export interface GatewayService {
  readonly name: string;
  readonly namespace: string;
  /** Whoever made it closes it, after the gateway has stopped. */
  readonly path: ServicePath;
}

export interface GatewayOptions {
  readonly services: readonly GatewayService[];
  /** 0: any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Other than the usual bounds on request bodies. */
  readonly bodyLimits?: Partial<BodyLimits>;
  /** Answered at STATUS_PATH. */
  readonly status: () => Promise<unknown>;
  /** Answered at METRICS_PATH: the metrics of all processes together; absent: there are none. */
  readonly metrics?: () => Promise<string>;
  /** Answers the control paths; absent: they are unknown. */
  readonly control?: GatewayControl;
  /** Makes spans of requests to Services; absent: nothing is traced. */
  readonly tracing?: RequestTracing;
}

/** No Service can have this name, so that the path is nobody else's. */
export const STATUS_PATH = '/-/status';
export const METRICS_PATH = '/-/metrics';

/** What Retry-After says: a restart takes about this long. */
export const RETRY_AFTER_S = '1';
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
 * A body is read before the request goes on its path: a caller that sends slowly, or never, costs the
 * Service nothing. It also goes to the stage as one piece, so that a stage's early refusal (413, 401),
 * given without reading, arrives: with a single write pending the system hands us the answer before
 * the write's failure, whereas writing on piece by piece would meet the closed connection first.
 *
 * Where a request waits and how long is its ServicePath's matter. When the caller goes away, the request
 * to the stage is broken off too, so that no stage works for nobody.
 */
export class Gateway {
  readonly #server: Server;
  readonly #paths = new Map<string, ServicePath>();
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
    for (const { name, namespace, path } of options.services) {
      namespaces.set(name, namespace);
      this.#paths.set(name, path);
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

  /** Throws SERVICE_UNKNOWN. */
  path(service: string): ServicePath {
    const path = this.#paths.get(service);
    if (path !== undefined) return path;
    throw new TachographError('SERVICE_UNKNOWN', { value: service, known: this.#known() });
  }

  /** Closes the door at once; requests still under way are cut. */
  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  #known(): string {
    return [...this.#paths.keys()].sort().join(', ');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#forward(request, response);
    } catch (error) {
      // A body that breaks off is told before the answer's connection is.
      if (response.destroyed || request.socket.destroyed) return;
      answerError(request, response, asExpected(error, this.#options.log));
    }
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkRequest(request);
    const url = request.url ?? '/';
    if (url === STATUS_PATH && request.method === 'GET') {
      answerJson(response, 200, await this.#options.status());
      return;
    }
    const { metrics } = this.#options;
    if (metrics !== undefined && url === METRICS_PATH && request.method === 'GET') {
      const text = await metrics();
      response.writeHead(200, { 'content-type': PROMETHEUS_TYPE }).end(text);
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
    const { method = 'GET', headers } = request;
    const span = this.#options.tracing?.begin({ ...route, method, headers });
    if (span === undefined) await this.#pass(request, response, route);
    else await this.#passTraced(request, response, route, span);
  }

  async #pass(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
    span?: GatewaySpan,
  ): Promise<void> {
    const path = this.path(route.service);
    const body = await this.#bodies.read(request);
    span?.noteRead(body.bytes?.length ?? 0);
    const headers = forwardedHeaders(request.rawHeaders);
    try {
      const sent = {
        method: request.method ?? 'GET',
        path: route.path,
        headers: span?.withContext(headers) ?? headers,
        body: body.bytes,
        ...(span === undefined ? {} : { hop: span.hop }),
      };
      await passAnswer(path, sent, response);
    } finally {
      body.release();
    }
  }

  async #passTraced(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
    span: GatewaySpan,
  ): Promise<void> {
    try {
      await this.#pass(request, response, route, span);
      span.end(response.headersSent ? response.statusCode : null, '');
    } catch (error) {
      const known = error instanceof TachographError ? error : undefined;
      const isGone = response.destroyed || request.socket.destroyed;
      span.end(isGone ? null : (known?.status ?? 500), known?.code ?? 'INTERNAL');
      throw error;
    }
  }
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
