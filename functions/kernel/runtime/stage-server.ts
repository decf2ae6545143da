import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { eventFromHttp, MAX_EVENT_BYTES } from '#eventing/contracts/codec.ts';
import { TachographError } from '../core/errors.ts';
import {
  answerBadUrl,
  answerBrokenRequest,
  answerErrors,
  DEFAULT_BODY_BYTES,
} from './error-answers.ts';
import { serveApiPages } from './api-pages.ts';
import { callerSignal } from './caller-signal.ts';
import { consumeForRequests, serveBursts } from './demand-routes.ts';
import { handleEvent } from './handle-event.ts';
import { park } from './park.ts';
import { bodyBytes, takeRawBodies } from './raw-bodies.ts';
import type { StageDemand } from './stage-demand.ts';
import type { Outcome, StageContext, StageDefinition } from './stage.ts';

async function dispatch(
  definition: StageDefinition,
  context: StageContext,
  event: CloudEvent,
  signal: AbortSignal,
  demand: StageDemand | undefined,
): Promise<Outcome> {
  if (definition.consumes.includes(event.type)) {
    try {
      return await handleEvent(definition, event, context, signal, demand);
    } catch (error) {
      // What the event itself is at fault for fails the same way at every delivery: keep it, go on.
      if (!(error instanceof TachographError) || error.kind !== 'reject') throw error;
      return { kind: 'parked', reason: error.code, detail: error.message };
    }
  }
  const detail = `${definition.name} does not consume ${event.type}`;
  return { kind: 'parked', reason: 'unknownType', detail };
}

/** 2xx done or parked, 503 try again; what throws is answered from the error table. */
async function answer(
  outcome: Outcome,
  event: CloudEvent,
  definition: StageDefinition,
  context: StageContext,
  reply: FastifyReply,
): Promise<void> {
  if (outcome.kind === 'retry') {
    context.log.info('asked to try again', { eventId: event.id, why: outcome.reason });
    const afterS = Math.max(1, Math.ceil(outcome.afterMs / 1_000));
    await reply.status(503).header('retry-after', String(afterS)).send();
    return;
  }
  if (outcome.kind === 'parked') {
    await park(definition.name, event, outcome.reason, outcome.detail, context);
  }
  await reply.status(204).send();
}

function eventRoutes(
  definition: StageDefinition,
  context: StageContext,
  demand: StageDemand | undefined,
) {
  return (scope: FastifyInstance, _options: unknown, done: () => void): void => {
    takeRawBodies(scope);
    const read = (request: FastifyRequest): CloudEvent =>
      eventFromHttp(request.headers, bodyBytes(request));
    const hidden = { schema: { hide: true } } as const;
    scope.post('/', hidden, async (request, reply) => {
      const event = read(request);
      const outcome = await dispatch(definition, context, event, callerSignal(reply), demand);
      await answer(outcome, event, definition, context, reply);
      return reply;
    });
    scope.post('/dead-letter', hidden, async (request, reply) => {
      const event = read(request);
      const { knativeerrorcode, knativeerrordata } = event.extensions;
      // Knative carries the subscriber's answer as base64, an extension's text being restricted.
      const said = Buffer.from(knativeerrordata ?? '', 'base64').toString('utf8');
      const detail = `code ${knativeerrorcode ?? '?'}: ${said}`;
      await park(definition.name, event, 'exhausted', detail, context);
      await reply.status(204).send();
      return reply;
    });
    done();
  };
}

/**
 * A stage as an HTTP server: `POST /` takes events, `POST /dead-letter` parks exhausted ones,
 * `GET /healthz` answers probes, and the stage's own routes, with their description at `/docs`. With
 * a demand, `GET /bursts` says what it has consumed.
 */
export async function buildStageServer(
  definition: StageDefinition,
  context: StageContext,
  demand?: StageDemand,
): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    bodyLimit: DEFAULT_BODY_BYTES,
    routerOptions: { maxParamLength: 16_384 },
    requestTimeout: 60_000,
    return503OnClosing: true,
    frameworkErrors: answerBadUrl,
    clientErrorHandler: answerBrokenRequest,
  });
  answerErrors(app, context.log);
  if (definition.routes !== undefined) await serveApiPages(app, definition.name, context.software);
  await app.register(eventRoutes(definition, context, demand), { bodyLimit: MAX_EVENT_BYTES });
  app.get('/healthz', { schema: { hide: true } }, () => ({ status: 'ok', stage: definition.name }));
  if (demand !== undefined) serveBursts(app, demand);
  await app.register(async (scope) => {
    if (demand !== undefined && definition.consumes.length === 0) consumeForRequests(scope, demand);
    await definition.routes?.(scope, context);
  });
  return app;
}
