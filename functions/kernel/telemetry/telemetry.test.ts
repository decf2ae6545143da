import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { TachographError } from '../core/errors.ts';
import { DONE } from '../runtime/stage.ts';
import {
  closeTracedStages,
  PARENT,
  PARENT_SPAN,
  TRACE,
  tracedStage,
} from './testing/traced-stage.ts';

afterEach(closeTracedStages);

test('an event has one span: child of its extension, from arrival to answer, with its attributes', async () => {
  const { post, spans } = await tracedStage();
  expect((await post('/', { 'ce-traceparent': PARENT })).status).toBe(204);
  const [span, ...more] = await spans();
  expect(more).toEqual([]);
  expect(span?.name).toBe('handle');
  expect(span?.kind).toBe(SpanKind.CONSUMER);
  expect(span?.spanContext().traceId).toBe(TRACE);
  expect(span?.parentSpanContext?.spanId).toBe(PARENT_SPAN);
  expect(span?.startTime).toEqual([1_767_600_000, 0]);
  expect(span?.endTime).toEqual([1_767_600_000, 250_000_000]);
  expect(span?.attributes).toEqual({
    'cloudevents.event_id': 'a/b',
    'cloudevents.event_source': '/test',
    'cloudevents.event_type': 'known',
    'cloudevents.event_subject': 'veh-1',
    'db.system.name': 'sqlite',
    'faas.coldstart': true,
    'faas.trigger': 'pubsub',
    'http.response.status_code': 204,
    'messaging.message.body.size': 2,
    'messaging.operation.name': 'handle',
    'messaging.operation.type': 'process',
    'tachograph.outcome': 'done',
    'tachograph.parent.from': 'extension',
    'tachograph.phase.compute_ms': 250,
    'tachograph.phases': 'compute:0+250000',
  });
  expect(span?.resource.attributes).toMatchObject({
    'service.name': 'export',
    'service.namespace': 'tachograph',
    'service.version': '1.2.3',
    'faas.name': 'export',
    'faas.instance': 'export-0',
    'service.instance.id': 'export-0',
  });
});

test('what an event causes continues its span; the origin stays the one it came with', async () => {
  const { post, spans, emitted } = await tracedStage();
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
  const { post, spans } = await tracedStage();
  await post('/', { 'ce-tachotrace': PARENT });
  const [span] = await spans();
  expect(span?.spanContext().traceId).toBe(TRACE);
  expect(span?.attributes).toMatchObject({ 'tachograph.parent.from': 'origin' });
});

test('an event without any context begins a trace, whose first emission is the origin', async () => {
  const { post, spans, emitted } = await tracedStage();
  await post('/');
  const [span] = await spans();
  expect(span?.parentSpanContext).toBeUndefined();
  const { traceparent, tachotrace } = emitted[0]?.extensions ?? {};
  expect(traceparent).toContain(span?.spanContext().traceId);
  expect(tachotrace).toBe(traceparent);
});

test('a trace that is not sampled has no span here, and is handed on as not sampled', async () => {
  const { post, spans, emitted } = await tracedStage();
  await post('/', { traceparent: `00-${TRACE}-${PARENT_SPAN}-00` });
  expect(await spans()).toEqual([]);
  expect(emitted[0]?.extensions['traceparent']).toMatch(new RegExp(`^00-${TRACE}-.{16}-00$`));
});

test('a request for a route of its own: a server span, which what it emits continues', async () => {
  const { post, spans, emitted } = await tracedStage();
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
    const { post, spans } = await tracedStage({ handle: async () => outcome });
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
  const { post, spans } = await tracedStage({
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
  const { url, post, spans } = await tracedStage();
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await post('/');
  await post('/');
  const cold = (await spans()).map(({ attributes }) => attributes['faas.coldstart']);
  expect(cold).toEqual([true, false]);
});

test('the phases of an event: its wait before the process, the store, and the work around it', async () => {
  const { post, spans, clock } = await tracedStage({
    handle: async (_event, { store }) => {
      await clock.advance(10);
      await store.insert('parked', 'v/export/1', { why: 'test' });
      await clock.advance(5);
      return DONE;
    },
  });
  // Sent a quarter of a second before it arrives.
  await post('/', { 'x-request-start': 't=1767599999.750000' });
  const [span] = await spans();
  expect(span?.attributes).toMatchObject({
    'tachograph.phases':
      'queue:-250000+250000 compute:0+10000 store:10000+40000 compute:50000+5000',
    'tachograph.phase.queue_ms': 250,
    'tachograph.phase.compute_ms': 15,
    'tachograph.phase.store_ms': 40,
    'tachograph.store.calls': 1,
  });
});

test('a sender whose clock is ahead makes no wait, and no negative one', async () => {
  const { post, spans } = await tracedStage();
  await post('/', { 'x-request-start': 't=1767600000.500000' });
  const [span] = await spans();
  expect(span?.attributes['tachograph.phases']).toBe('compute:0+250000');
});

test('what announces a fact that is there already says that it is a duplicate', async () => {
  const { post, spans } = await tracedStage({
    handle: async (_event, { store }) => {
      await store.insert('windows', 'v/s/00000000/0001', { seqs: [0] });
      return DONE;
    },
  });
  await post('/');
  await post('/');
  const said = (await spans()).map(({ attributes }) => attributes['tachograph.duplicate']);
  expect(said).toEqual([undefined, true]);
});

test('what a Trigger gave up has a span of its own, with its reason', async () => {
  const { post, spans } = await tracedStage();
  expect((await post('/dead-letter', { 'ce-traceparent': PARENT })).status).toBe(204);
  const [span] = await spans();
  expect(span?.spanContext().traceId).toBe(TRACE);
  expect(span?.attributes).toMatchObject({
    'tachograph.outcome': 'parked',
    'tachograph.outcome.reason': 'exhausted',
  });
});

test('a link leads to another trace, with its attributes; to no proper place there is none', async () => {
  const { post, spans } = await tracedStage({
    handle: async (_event, { span }) => {
      span?.()?.link({ traceparent: PARENT }, { 'tachograph.seq': 7 });
      span?.()?.link({ traceparent: 'none' }, { 'tachograph.seq': 8 });
      return DONE;
    },
  });
  await post('/');
  const [span] = await spans();
  expect(span?.links).toHaveLength(1);
  expect(span?.links[0]).toMatchObject({
    context: { traceId: TRACE, spanId: PARENT_SPAN },
    attributes: { 'tachograph.seq': 7 },
  });
});

test("OpenTelemetry's own set-up for Node makes the same spans", async () => {
  const { post, spans } = await tracedStage({}, 'sdk-node');
  await post('/', { 'ce-traceparent': PARENT });
  const [span, ...more] = await spans();
  expect(more).toEqual([]);
  expect(span?.name).toBe('handle');
  expect(span?.parentSpanContext?.spanId).toBe(PARENT_SPAN);
  expect(span?.resource.attributes).toMatchObject({
    'service.name': 'export',
    'service.instance.id': 'export-0',
    'process.runtime.name': 'nodejs',
  });
  expect(span?.attributes['tachograph.phases']).toBe('compute:0+250000');
});
