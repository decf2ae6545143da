import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { eventFromHttp, MAX_EVENT_BYTES } from '#eventing/contracts/codec.ts';
import { TachographError } from '../core/errors.ts';
import { answerEmpty } from './answer.ts';
import { callerSignal } from './caller-signal.ts';
import { handleEvent } from './handle-event.ts';
import { park } from './park.ts';
import { readBody } from './read-body.ts';
import type { RequestSpan, StageTelemetry } from '../telemetry/stage-telemetry.ts';
import type { StageDemand } from './stage-demand.ts';
import type { Outcome, StageContext, StageDefinition } from './stage.ts';
import { traceEvent } from './traced.ts';

/** `arrivedMs`: as the telemetry's clock has it; undefined: nothing is traced. */
export type Route = (
  request: IncomingMessage,
  response: ServerResponse,
  arrivedMs: number | undefined,
) => Promise<void>;

/** Where events come in: `/` from the Triggers, `/dead-letter` what they gave up. */
export interface EventRoutes {
  readonly take: Route;
  readonly parkExhausted: Route;
}

export function eventRoutes(
  definition: StageDefinition,
  context: StageContext,
  demand: StageDemand | undefined,
  telemetry: StageTelemetry | undefined,
): EventRoutes {
  return {
    async take(request, response, arrivedMs) {
      const event = await readEvent(request);
      const signal = callerSignal(response);
      const work = async (span?: RequestSpan): Promise<void> => {
        const outcome = await counted(definition, context, event, () =>
          dispatch(definition, context, event, signal, demand),
        );
        span?.noteOutcome(outcome);
        await answer(outcome, event, definition, context, response);
      };
      if (telemetry === undefined || arrivedMs === undefined) await work();
      else await traceEvent(telemetry, { request, response, event, arrivedMs }, work);
    },
    async parkExhausted(request, response, arrivedMs) {
      const event = await readEvent(request);
      const detail = exhaustedBy(event);
      const work = async (span?: RequestSpan): Promise<void> => {
        span?.noteOutcome({ kind: 'parked', reason: 'exhausted', detail });
        await park(definition.name, event, 'exhausted', detail, context);
        answerEmpty(response, 204);
      };
      if (telemetry === undefined || arrivedMs === undefined) await work();
      else await traceEvent(telemetry, { request, response, event, arrivedMs }, work);
    },
  };
}

/** What the event was given up for. Knative carries the answer as base64, an extension's text being restricted. */
function exhaustedBy({ extensions }: CloudEvent): string {
  const { knativeerrorcode, knativeerrordata } = extensions;
  const said = Buffer.from(knativeerrordata ?? '', 'base64').toString('utf8');
  return `code ${knativeerrorcode ?? '?'}: ${said}`;
}

/** Handles an event and counts how long that took and how it ended. */
async function counted(
  { consumes }: StageDefinition,
  { metrics, clock }: StageContext,
  { type }: CloudEvent,
  handle: () => Promise<Outcome>,
): Promise<Outcome> {
  if (metrics === undefined) return handle();
  const fromMs = clock.monotonicMs();
  let kind: Outcome['kind'] | 'failed' = 'failed';
  try {
    const outcome = await handle();
    ({ kind } = outcome);
    return outcome;
  } finally {
    const known = consumes.includes(type) ? type : '_OTHER';
    metrics.eventHandled(known, kind, clock.monotonicMs() - fromMs);
  }
}

const readEvent = async (request: IncomingMessage): Promise<CloudEvent> =>
  eventFromHttp(request.headers, await readBody(request, MAX_EVENT_BYTES));

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
  response: ServerResponse,
): Promise<void> {
  if (outcome.kind === 'retry') {
    context.log.info('asked to try again', { eventId: event.id, why: outcome.reason });
    const afterS = Math.max(1, Math.ceil(outcome.afterMs / 1_000));
    answerEmpty(response, 503, { 'retry-after': String(afterS) });
    return;
  }
  if (outcome.kind === 'parked') {
    await park(definition.name, event, outcome.reason, outcome.detail, context);
  }
  answerEmpty(response, 204);
}
