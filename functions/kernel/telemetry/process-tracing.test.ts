import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { silentLog } from '../system/log.ts';
import { startProcessTracing, type ProcessSpanStart } from './process-tracing.ts';

/** What is less than a process's age is taken for a time of its own clock. */
const EPOCH_MS = 1_767_600_000_000;
const TRACE = '0af7651916cd43dd8448eb211c80319c';

function tracing(env: Record<string, string> = {}) {
  const exporter = new InMemorySpanExporter();
  const finished: ReadableSpan[] = [];
  const deliver = exporter.export.bind(exporter);
  exporter.export = (batch, done) => {
    finished.push(...batch);
    deliver(batch, done);
  };
  const clock = new VirtualClock(EPOCH_MS);
  const process = startProcessTracing({
    service: 'local-cluster',
    instance: 'local-cluster-1',
    software: 'tachograph/1.2.3',
    pid: 1,
    env,
    clock,
    nowMs: () => clock.nowMs(),
    spansUrl: undefined,
    tracesUrl: 'http://unused.test/v1/traces',
    log: silentLog,
    loadExporter: async () => exporter,
  });
  const spans = async () => {
    await process.stop(1_000);
    return finished;
  };
  return { process, spans };
}

const START: ProcessSpanStart = {
  name: 'deliver',
  kind: 'client',
  startMs: EPOCH_MS + 0.5,
  parent: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` },
  attributes: { 'faas.name': 'export' },
};

test('a span of a process: parent, times, attributes, and its phases as marks and sums', async () => {
  const { process, spans } = tracing();
  const span = process.startSpan(START);
  span.mark('stream', EPOCH_MS - 10, EPOCH_MS + 0.5);
  span.mark('activator', EPOCH_MS + 0.5, EPOCH_MS + 0.5);
  span.mark('queue', EPOCH_MS + 1, EPOCH_MS + 2);
  span.mark('queue', EPOCH_MS + 3, EPOCH_MS + 3.5);
  span.set('tachograph.delivery.attempt', 2);
  span.end(EPOCH_MS + 4);
  const [one] = await spans();
  expect(one?.kind).toBe(SpanKind.CLIENT);
  expect(one?.spanContext().traceId).toBe(TRACE);
  expect(one?.startTime).toEqual([EPOCH_MS / 1_000, 500_000]);
  expect(one?.endTime).toEqual([EPOCH_MS / 1_000, 4_000_000]);
  expect(one?.attributes).toEqual({
    'faas.name': 'export',
    'tachograph.delivery.attempt': 2,
    'tachograph.phases': 'stream:-10500+10500 queue:500+1000 queue:2500+500',
    'tachograph.phase.stream_ms': 10.5,
    'tachograph.phase.queue_ms': 1.5,
  });
  expect(one?.resource.attributes).toMatchObject({
    'service.name': 'local-cluster',
    'service.instance.id': 'local-cluster-1',
  });
});

test('a failure is the status of the span, with its code; a link leads to another trace', async () => {
  const { process, spans } = tracing();
  const span = process.startSpan(START);
  span.link({ traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` }, { 'tachograph.seq': 1 });
  span.link({ traceparent: '' }, {});
  span.fail('EMIT_FAILED', 'no answer');
  span.end(EPOCH_MS + 1);
  const [one] = await spans();
  expect(one?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no answer' });
  expect(one?.attributes['error.type']).toBe('EMIT_FAILED');
  expect(one?.links.map(({ context }) => context.traceId)).toEqual(['1'.repeat(32)]);
});

test('a root is sampled as the standard variables say, what follows as its parent was', async () => {
  const { process, spans } = tracing({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
  const root = process.startSpan({ ...START, parent: undefined });
  expect(root.sampled).toBe(false);
  expect(root.place.traceparent).toMatch(/-00$/);
  process.startSpan({ ...START, parent: root.place }).end(EPOCH_MS + 1);
  root.end(EPOCH_MS + 1);
  const followed = process.startSpan(START);
  expect(followed.sampled).toBe(true);
  followed.end(EPOCH_MS + 1);
  expect(await spans()).toHaveLength(1);
});
