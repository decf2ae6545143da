import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  fastify,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import { serveApiPages } from './api-pages.ts';
import { consumeForRequests } from './demand-routes.ts';
import { answerBadUrl, answerErrors, DEFAULT_BODY_BYTES } from './error-answers.ts';
import type { RequestSpan } from '../telemetry/stage-telemetry.ts';
import type { StageDemand } from './stage-demand.ts';
import type { StageContext, StageDefinition } from './stage.ts';

/** The REST face of a stage, without a server of its own. */
export interface RestApp {
  /** `span`: what the request's work belongs to. */
  handle(request: IncomingMessage, response: ServerResponse, span?: RequestSpan): void;
  /** The pattern of the route that serves it; '' before that is known, and where there is none. */
  routeOf(request: IncomingMessage): string;
  close(): Promise<void>;
}

/**
 * Schemas describe the routes; the code judges the values, with better words. So nothing is compiled,
 * which would cost the start 30 ms and more (decision 9).
 */
const NOTHING_COMPILED = {
  compilersFactory: {
    // The types ask for ajv's own; fastify calls what it is given.
    buildValidator: (() => () => () => true) as unknown as ValidatorFactory,
    buildSerializer: () => () => (data: unknown) => JSON.stringify(data),
  },
};

type ValidatorFactory = NonNullable<
  NonNullable<
    NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
  >['buildValidator']
>;

/** The stage's own routes on fastify, with their description at `/docs`. */
export async function buildRestApp(
  definition: StageDefinition,
  context: StageContext,
  demand: StageDemand | undefined,
): Promise<RestApp> {
  const app = fastify({
    logger: false,
    bodyLimit: DEFAULT_BODY_BYTES,
    routerOptions: { maxParamLength: 16_384 },
    schemaController: NOTHING_COMPILED,
    frameworkErrors: answerBadUrl,
  });
  answerErrors(app, context.log);
  const spans = new WeakMap<IncomingMessage, RequestSpan>();
  const routes = new WeakMap<IncomingMessage, string>();
  app.addHook('onRequest', (request, _reply, done) => {
    routes.set(request.raw, request.routeOptions.url ?? '');
    done();
  });
  // Twice, since what runs once a body is read runs in the connection's context, not in its request's.
  for (const hook of ['onRequest', 'preHandler'] as const) {
    app.addHook(hook, (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
      const span = spans.get(request.raw);
      if (span === undefined) done();
      else span.run(done);
    });
  }
  await serveApiPages(app, definition.name, context.software);
  await app.register(async (scope) => {
    if (demand !== undefined && definition.consumes.length === 0) consumeForRequests(scope, demand);
    await definition.routes?.(scope, context);
  });
  await app.ready();
  return {
    handle: (request, response, span) => {
      if (span !== undefined) spans.set(request, span);
      app.routing(request, response);
    },
    routeOf: (request) => routes.get(request) ?? '',
    close: () => app.close(),
  };
}
