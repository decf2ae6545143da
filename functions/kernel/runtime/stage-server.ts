import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { TachographError } from '../core/errors.ts';
import type { ListenAddress } from '../core/listening-message.ts';
import { PROMETHEUS_TYPE } from '../telemetry/metrics/prometheus-type.ts';
import type { StageTelemetry } from '../telemetry/stage-telemetry.ts';
import { answerJson } from './answer.ts';
import { answerBrokenRequest } from './broken-request.ts';
import { BURSTS_PATH, burstsAnswer } from './bursts.ts';
import { eventRoutes, type Route } from './event-routes.ts';
import { failureAnswer } from './failure-answer.ts';
import type { RestApp } from './rest-app.ts';
import type { StageDemand } from './stage-demand.ts';
import type { StageContext, StageDefinition } from './stage.ts';
import { traceRequest } from './traced.ts';

/** From the first byte of a request to its last. */
const REQUEST_TIMEOUT_MS = 60_000;
/** How long a connection without a request stays open; callers keep theirs for less. */
const KEEP_ALIVE_MS = 72_000;

/** A stage as an HTTP server. */
export interface StageServer {
  /** What the server does with a request; also without one, in tests. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Rejects when the place cannot be had. Port 0: any free one. */
  listen(place: ListenAddress & { readonly host?: string }): Promise<ListenAddress>;
  /** Takes nothing new, resolves when everything in flight is answered. */
  close(): Promise<void>;
}

/**
 * `POST /` takes events, `POST /dead-letter` parks exhausted ones, `GET /healthz` answers probes, with a
 * demand `GET /bursts` says what it has consumed, `GET /metrics` answers Prometheus, and everything else
 * goes to the stage's own routes.
 *
 * Events are served by Node's own server, routes by fastify, which is loaded with the first request for
 * one: it costs a cold start as much as all the rest (decision 9). A stage that consumes no events has
 * nothing but routes, and loads it at once.
 */
export async function buildStageServer(
  definition: StageDefinition,
  context: StageContext,
  demand?: StageDemand,
  telemetry?: StageTelemetry,
  metricsText?: () => Promise<string>,
): Promise<StageServer> {
  const server = new StageHttpServer(definition, context, demand, telemetry, metricsText);
  if (definition.consumes.length === 0) await server.loadRest();
  return server;
}

class StageHttpServer implements StageServer {
  readonly #definition: StageDefinition;
  readonly #context: StageContext;
  readonly #demand: StageDemand | undefined;
  readonly #telemetry: StageTelemetry | undefined;
  readonly #routes: Map<string, Route>;
  readonly #server: Server;
  readonly #inFlight = new Set<ServerResponse>();
  #rest: Promise<RestApp> | undefined;
  #restApp: RestApp | undefined;
  #closing = false;

  constructor(
    definition: StageDefinition,
    context: StageContext,
    demand: StageDemand | undefined,
    telemetry: StageTelemetry | undefined,
    metricsText: (() => Promise<string>) | undefined,
  ) {
    this.#definition = definition;
    this.#context = context;
    this.#demand = demand;
    this.#telemetry = telemetry;
    this.#routes = stageRoutes(definition, context, demand, telemetry);
    if (metricsText !== undefined) this.#routes.set('GET /metrics', metricsRoute(metricsText));
    this.#server = createServer(
      { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
      (request, response) => this.handle(request, response),
    );
    this.#server.on('clientError', answerBrokenRequest);
  }

  /** The stage's own routes; undefined where it has none. */
  async loadRest(): Promise<RestApp | undefined> {
    if (this.#definition.routes === undefined) return undefined;
    this.#rest ??= this.#buildRest();
    return this.#rest;
  }

  async #buildRest(): Promise<RestApp> {
    try {
      const { buildRestApp } = await import('./rest-app.ts');
      this.#restApp = await buildRestApp(this.#definition, this.#context, this.#demand);
      return this.#restApp;
    } catch (error) {
      // The store may be busy: the next request tries again.
      this.#rest = undefined;
      throw error;
    }
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight.add(response);
    const count = this.#count(request, response);
    response.once('close', () => {
      this.#inFlight.delete(response);
      count();
      if (this.#closing) this.#server.closeIdleConnections();
    });
    this.#serve(request, response).catch((error: unknown) => {
      this.#fail(error, request, response);
    });
  }

  /** Counts a request; the function returned is called at its end. */
  #count(request: IncomingMessage, response: ServerResponse): () => void {
    const { metrics, clock } = this.#context;
    if (metrics === undefined) return () => {};
    metrics.requestBegun();
    const fromMs = clock.monotonicMs();
    return () => {
      const { method = '' } = request;
      const path = pathOf(request);
      const own = this.#routes.has(`${method === 'HEAD' ? 'GET' : method} ${path}`);
      metrics.requestEnded({
        method,
        route: own ? path : (this.#restApp?.routeOf(request) ?? ''),
        status: response.writableFinished ? response.statusCode : null,
        ms: clock.monotonicMs() - fromMs,
      });
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#closing) {
      response.setHeader('connection', 'close');
      throw new TachographError('STAGE_STOPPING');
    }
    const arrivedMs = this.#telemetry?.nowMs();
    const path = pathOf(request);
    // A HEAD request is answered like a GET: Node leaves the body out.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = this.#routes.get(`${method} ${path}`);
    if (route !== undefined) {
      await route(request, response, arrivedMs);
      return;
    }
    const rest = await this.loadRest();
    if (rest === undefined) throw unknownRoute(request, path);
    const span =
      this.#telemetry === undefined || arrivedMs === undefined
        ? undefined
        : traceRequest(this.#telemetry, { request, response, arrivedMs });
    rest.handle(request, response, span);
  }

  #fail(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    const asked = { method: request.method ?? '', path: request.url ?? '' };
    const { status, headers, body } = failureAnswer(error, asked, this.#context.log);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    // What is left of a body that was not wanted is not read as the next request.
    if (!request.complete) response.setHeader('connection', 'close');
    answerJson(response, status, body, headers);
  }

  async listen(place: ListenAddress & { readonly host?: string }): Promise<ListenAddress> {
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      const options =
        'port' in place
          ? { port: place.port, host: place.host ?? '127.0.0.1' }
          : { path: place.socketPath };
      server.listen(options, () => {
        server.off('error', reject);
        resolve();
      });
    });
    const address = server.address();
    if (typeof address === 'object' && address !== null) return { port: address.port };
    return place;
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const response of this.#inFlight) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    if (this.#server.listening) {
      await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    }
    await (await this.#rest)?.close();
  }
}

const metricsRoute =
  (text: () => Promise<string>): Route =>
  async (_request, response) => {
    const body = await text();
    response.writeHead(200, { 'content-type': PROMETHEUS_TYPE }).end(body);
  };

const pathOf = ({ url = '/' }: IncomingMessage): string => url.replace(/[?#].*$/, '');

/** ROUTE_UNKNOWN, or REQUEST_INVALID for what is no path at all. */
function unknownRoute({ method = '', url = '' }: IncomingMessage, path: string): TachographError {
  try {
    decodeURIComponent(path);
  } catch {
    return new TachographError('REQUEST_INVALID', { detail: `"${path}" is not a URL's path` });
  }
  return new TachographError('ROUTE_UNKNOWN', { method, path: url });
}

function stageRoutes(
  definition: StageDefinition,
  context: StageContext,
  demand: StageDemand | undefined,
  telemetry: StageTelemetry | undefined,
): Map<string, Route> {
  const events = eventRoutes(definition, context, demand, telemetry);
  const routes = new Map<string, Route>([
    ['POST /', events.take],
    ['POST /dead-letter', events.parkExhausted],
    [
      'GET /healthz',
      async (_request, response) =>
        answerJson(response, 200, { status: 'ok', stage: definition.name }),
    ],
  ]);
  if (demand !== undefined) {
    routes.set(`GET ${BURSTS_PATH}`, async ({ url = '' }, response) => {
      answerJson(response, 200, burstsAnswer(demand, url));
    });
  }
  return routes;
}
