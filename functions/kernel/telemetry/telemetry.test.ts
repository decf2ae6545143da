import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace';
import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import { emissionEvent } from '../runtime/emitter.ts';
import { DONE, type StageContext, type StageDefinition } from '../runtime/stage.ts';
import { serveStage, type ServedStage } from '../runtime/testing/serve-stage.ts';
import { memoryStore } from '../store/memory-store.ts';
import { silentLog } from '../system/log.ts';
import { startTelemetry } from './start.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT_SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${PARENT_SPAN}-01`;
const served: ServedStage[] = [];

afterEach(async () => {
  for (const stage of served.splice(0)) await stage.close();
});

/** A stage that emits what it was told by, with its spans in memory and its emissions as events. */
async function traced(change: Partial<StageDefinition> = {}) {
  const exporter = new InMemorySpanExporter();
  const clock = new VirtualClock(1_000_000);
  const telemetry = startTelemetry({
    tracesUrl: 'http://unused.test/v1/traces',
    stage: 'export',
    software: 'tachograph/1.2.3',
    pid: 42,
    clock,
    nowMs: () => clock.nowMs(),
    log: silentLog,
    loadExporter: async () => exporter,
  });
  const emitted: ReturnType<typeof emissionEvent>[] = [];
  const context: StageContext = {
    clock,
    store: memoryStore(),
    log: silentLog,
    software: 'tachograph/1.2.3',
    emit: async (emission, cause) => {
      const place = telemetry.current();
      emitted.push(emissionEvent('export', emission, cause, clock.nowMs(), place));
    },
  };
  const emission = {
    name: 'session.closed.v1',
    factId: 'v/s/1',
    subject: 'v',
    data: { vehicle: 'v', session: 's', revision: 1 },
  } as const;
  const definition: StageDefinition = {
    name: 'export',
    consumes: ['known'],
    handle: async (event, own) => {
      await clock.advance(250);
      await own.emit(emission, event);
      return DONE;
    },
    routes: (app, own) => {
      app.post('/v1/things', async (_request, reply) => {
        await own.emit(emission, undefined);
        return reply.status(201).send({});
      });
    },
    ...change,
  };
  const stage = await serveStage(definition, context, undefined, telemetry);
  served.push(stage);
  // Over a socket: the end of an answer is the end of its span.
  const url = await stage.listen();
  const post = (path: string, more: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...EVENT, ...more }, body: '{}' });
  /** Ends the telemetry, which delivers its spans; read before the exporter forgets them. */
  const spans = async () => {
    await stage.close();
    await telemetry.stop(0).catch(() => undefined);
    return finished;
  };
  const finished: ReturnType<InMemorySpanExporter['getFinishedSpans']> = [];
  const deliver = exporter.export.bind(exporter);
  exporter.export = (batch, done) => {
    finished.push(...batch);
    deliver(batch, done);
  };
  return { url, post, spans, emitted };
}

const EVENT = {
  'ce-specversion': '1.0',
  'ce-id': 'a/b',
  'ce-source': '/test',
  'ce-type': 'known',
  'ce-subject': 'veh-1',
  'content-type': 'application/json',
};

test('an event has one span: child of its extension, from arrival to answer, with its attributes', async () => {
  const { post, spans } = await traced();
  expect((await post('/', { 'ce-traceparent': PARENT })).status).toBe(204);
  const [span, ...more] = await spans();
  expect(more).toEqual([]);
  expect(span?.name).toBe('handle');
  expect(span?.kind).toBe(SpanKind.CONSUMER);
  expect(span?.spanContext().traceId).toBe(TRACE);
  expect(span?.parentSpanContext?.spanId).toBe(PARENT_SPAN);
  expect(span?.startTime).toEqual([1_000, 0]);
  expect(span?.endTime).toEqual([1_000, 250_000_000]);
  expect(span?.attributes).toEqual({
    'cloudevents.event_id': 'a/b',
    'cloudevents.event_source': '/test',
    'cloudevents.event_type': 'known',
    'cloudevents.event_subject': 'veh-1',
    'faas.coldstart': true,
    'http.response.status_code': 204,
    'tachograph.outcome': 'done',
    'tachograph.parent.from': 'extension',
  });
  expect(span?.resource.attributes).toMatchObject({
    'service.name': 'export',
    'service.namespace': 'tachograph',
    'service.version': '1.2.3',
    'service.instance.id': 'export-42',
  });
});

test('what an event causes continues its span; the origin stays the one it came with', async () => {
  const { post, spans, emitted } = await traced();
  const origin = `00-${TRACE}-${'1'.repeat(16)}-01`;
  await post('/', {
    'ce-traceparent': PARENT,
    'ce-tracestate': 'vendor=1',
    'ce-tachotrace': origin,
  });
  const [span] = await spans();
  expect(emitted[0]?.extensions).toMatchObject({
    traceparent: `00-${TRACE}-${span?.spanContext().spanId}-01`,
    tracestate: 'vendor=1',
    tachotrace: origin,
  });
});

test('an event whose traceparent a broker has blanked goes on from its origin', async () => {
  const { post, spans } = await traced();
  await post('/', { 'ce-tachotrace': PARENT });
  const [span] = await spans();
  expect(span?.spanContext().traceId).toBe(TRACE);
  expect(span?.attributes).toMatchObject({ 'tachograph.parent.from': 'origin' });
});

test('an event without any context begins a trace, whose first emission is the origin', async () => {
  const { post, spans, emitted } = await traced();
  await post('/');
  const [span] = await spans();
  expect(span?.parentSpanContext).toBeUndefined();
  const { traceparent, tachotrace } = emitted[0]?.extensions ?? {};
  expect(traceparent).toContain(span?.spanContext().traceId);
  expect(tachotrace).toBe(traceparent);
});

test('a trace that is not sampled has no span here, and is handed on as not sampled', async () => {
  const { post, spans, emitted } = await traced();
  await post('/', { traceparent: `00-${TRACE}-${PARENT_SPAN}-00` });
  expect(await spans()).toEqual([]);
  expect(emitted[0]?.extensions['traceparent']).toMatch(new RegExp(`^00-${TRACE}-.{16}-00$`));
});

test('a request for a route of its own: a server span, which what it emits continues', async () => {
  const { post, spans, emitted } = await traced();
  expect((await post('/v1/things?x=1', { traceparent: PARENT })).status).toBe(201);
  const [span] = await spans();
  expect(span?.kind).toBe(SpanKind.SERVER);
  expect(span?.attributes).toMatchObject({
    'http.request.method': 'POST',
    'url.path': '/v1/things',
    'http.response.status_code': 201,
  });
  expect(emitted[0]?.extensions['traceparent']).toBe(
    `00-${TRACE}-${span?.spanContext().spanId}-01`,
  );
});

test.each([
  ['parked', { kind: 'parked', reason: 'poison', detail: 'd' }, 204, 'poison'],
  ['retry', { kind: 'retry', afterMs: 1, reason: 'early' }, 503, 'early'],
] as const)(
  'an outcome %s and its reason are attributes',
  async (kind, outcome, status, reason) => {
    const { post, spans } = await traced({ handle: async () => outcome });
    expect((await post('/')).status).toBe(status);
    const [span] = await spans();
    expect(span?.attributes).toMatchObject({
      'tachograph.outcome': kind,
      'tachograph.outcome.reason': reason,
      'http.response.status_code': status,
    });
  },
);

test('a failure is the status of the span, with its code', async () => {
  const { post, spans } = await traced({
    handle: async () => {
      throw new TachographError('STORE_BUSY', { detail: 'locked' });
    },
  });
  expect((await post('/')).status).toBe(503);
  const [span] = await spans();
  expect(span?.status.code).toBe(SpanStatusCode.ERROR);
  expect(span?.attributes).toMatchObject({ 'error.type': 'STORE_BUSY' });
});

test('only the first span of a process is the cold one; a probe has none', async () => {
  const { url, post, spans } = await traced();
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await post('/');
  await post('/');
  const cold = (await spans()).map(({ attributes }) => attributes['faas.coldstart']);
  expect(cold).toEqual([true, false]);
});
