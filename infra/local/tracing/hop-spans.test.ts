import { expect, test } from 'vitest';
import type { Delivery } from '#eventing/broker/jetstream-broker.ts';
import { parseTrigger } from '#eventing/dispatch/trigger-spec.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import type {
  ProcessSpan,
  ProcessSpanStart,
  ProcessTracing,
} from '#kernel/telemetry/process-tracing.ts';
import { deliverySpans } from './delivery-spans.ts';
import type { ReplicaStart } from './replica-start.ts';
import { requestSpans } from './request-spans.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const EMITTED = `00-${TRACE}-${'1'.repeat(16)}-01`;
const OWN = `00-${TRACE}-${'2'.repeat(16)}-01`;
/** Epoch ms of the monotonic zero. */
const EPOCH_MS = 1_000_000;

function bench(starts: Readonly<Record<string, ReplicaStart>> = {}) {
  const clock = new VirtualClock(EPOCH_MS);
  const begun: ProcessSpanStart[] = [];
  const told: string[] = [];
  const toEpochMs = (ms: number) => ms + EPOCH_MS - monotonicZeroMs;
  const monotonicZeroMs = clock.monotonicMs();
  const span: ProcessSpan = {
    place: { traceparent: OWN },
    sampled: true,
    mark: (phase, fromMs, untilMs) =>
      void told.push(`${phase} ${fromMs - EPOCH_MS} to ${untilMs - EPOCH_MS}`),
    set: (name, value) => void told.push(`${name}=${value}`),
    link: () => {},
    fail: (code) => void told.push(`failed ${code}`),
    end: (endMs) => void told.push(`end ${endMs - EPOCH_MS}`),
  };
  const tracing: ProcessTracing = {
    nowMs: () => toEpochMs(clock.monotonicMs()),
    startSpan: (start) => {
      begun.push(start);
      return span;
    },
    dropped: 0,
    stop: async () => {},
  };
  const context = { starts: { of: (replica: string) => starts[replica] }, toEpochMs };
  return { clock, begun, told, tracing, context, at: (ms: number) => ms + monotonicZeroMs };
}

const spec = parseTrigger({
  kind: 'Trigger',
  metadata: { name: 'windows', namespace: 'ns' },
  spec: {
    broker: 'default',
    filter: { attributes: { type: 'x' } },
    subscriber: {
      ref: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'data-processing' },
    },
    delivery: {
      deadLetterSink: {
        ref: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'export' },
        uri: '/dead-letter',
      },
    },
  },
});

const delivery = (headers: Record<string, string>, trace = {}): Delivery => ({
  sequence: 42,
  attempt: 3,
  headers: { 'ce-id': 'a/b', 'ce-type': 'x', ...headers },
  trace,
  storedMs: EPOCH_MS - 30,
  body: new Uint8Array(5),
  ack: () => {},
  retry: () => {},
  working: () => {},
});

test('a delivery continues the span that emitted, and says what it is and which attempt', async () => {
  const { begun, told, tracing, context, at, clock } = bench();
  const span = deliverySpans(tracing, context).begin({
    spec,
    delivery: delivery({ 'ce-traceparent': EMITTED }),
    isDeadLetter: false,
  });
  expect(begun[0]).toMatchObject({
    name: 'deliver',
    parent: { traceparent: EMITTED },
    startMs: EPOCH_MS,
    attributes: {
      'messaging.system': 'nats',
      'messaging.destination.name': 'ns/default',
      'messaging.destination.subscription.name': 'windows',
      'messaging.message.id': 'a/b',
      'messaging.message.body.size': 5,
      'faas.name': 'data-processing',
      'tachograph.delivery.attempt': 3,
      'tachograph.delivery.dead_letter': false,
      'tachograph.stream.sequence': 42,
      'tachograph.parent.from': 'extension',
    },
  });
  expect(span.headers).toEqual({ traceparent: OWN });
  span.hop.wait('activator', at(2));
  span.hop.wait('queue', at(2));
  span.hop.sent(at(3), 'data-processing-1');
  await clock.advance(9);
  const answer = { kind: 'answer', status: 204, headers: {}, body: new Uint8Array() } as const;
  span.end(answer, 'ack');
  expect(told).toEqual([
    // Up to the moment that it was given to the way there.
    'stream -30 to 2',
    'queue 2 to 3',
    'faas.coldstart=false',
    'faas.instance=data-processing-1',
    'tachograph.delivery.settlement=ack',
    'http.response.status_code=204',
    'end 9',
  ]);
});

test('a message whose extensions a broker has blanked goes on from its own headers, or its origin', () => {
  const { begun, tracing, context } = bench();
  const spans = deliverySpans(tracing, context);
  const begin = (one: Delivery) => spans.begin({ spec, delivery: one, isDeadLetter: false });
  begin(delivery({ 'ce-traceparent': '' }, { traceparent: EMITTED }));
  begin(delivery({ 'ce-traceparent': '', 'ce-tachotrace': EMITTED }));
  begin(delivery({}));
  expect(begun.map(({ parent }) => parent?.traceparent)).toEqual([EMITTED, EMITTED, undefined]);
  expect(begun.map(({ attributes }) => attributes['tachograph.parent.from'])).toEqual([
    'header',
    'origin',
    'none',
  ]);
});

test('a delivery to the dead letter sink is a span of its own, named after that', () => {
  const { begun, told, tracing, context } = bench();
  const spans = deliverySpans(tracing, context);
  spans
    .begin({ spec, delivery: delivery({}), isDeadLetter: false })
    .end({ kind: 'failure', aborted: false, detail: 'no answer within 5 ms' }, 'deadLetter');
  spans.begin({ spec, delivery: delivery({}), isDeadLetter: true });
  expect(begun.map(({ attributes }) => attributes['faas.name'])).toEqual([
    'data-processing',
    'export',
  ]);
  expect(begun[1]?.attributes['tachograph.delivery.dead_letter']).toBe(true);
  expect(told).toContain('tachograph.delivery.settlement=deadLetter');
  expect(told).toContain('failed UNREACHABLE');
});

test('a delivery that waited for a start: its cold part, and the parts of that', () => {
  const fixture: { start?: ReplicaStart } = {};
  const { told, tracing, context, at } = bench(new Proxy({}, { get: () => fixture.start }));
  fixture.start = {
    replica: 'export-1',
    decidedMs: at(10),
    spawnedMs: at(12),
    bootedMs: at(40),
    loadedMs: at(60),
    listeningMs: at(70),
    readyMs: at(71),
  };
  const span = deliverySpans(tracing, context).begin({
    spec,
    delivery: delivery({}),
    isDeadLetter: false,
  });
  span.hop.cold = true;
  span.hop.wait('activator', at(0));
  span.hop.sent(at(72), 'export-1');
  span.end({ kind: 'answer', status: 204, headers: {}, body: new Uint8Array() }, 'ack');
  expect(told).toContain('activator 0 to 10');
  expect(told).toContain('coldStart 10 to 71');
  expect(told).toContain('activator 71 to 72');
  expect(told).toContain('faas.coldstart=true');
  expect(told).toContain(
    'tachograph.coldstart.parts=wait:10000+2000 boot:12000+28000 load:40000+20000 listen:60000+10000 notice:70000+1000',
  );
});

const get = (headers: Record<string, string>) => ({
  service: 'device-communication',
  method: 'POST',
  path: '/v1/vehicles/v/batches?secret=1',
  headers,
});

test('a request at the gateway continues its caller, and its upload counts from the intended time', () => {
  const { begun, told, tracing, context, at } = bench();
  const intended = new Date(EPOCH_MS - 250).toISOString();
  const span = requestSpans(tracing, context).begin(
    get({ traceparent: EMITTED, 'ce-tachointended': intended, 'ce-id': 'v/s/1' }),
  );
  expect(begun[0]).toMatchObject({
    kind: 'server',
    parent: { traceparent: EMITTED },
    attributes: {
      'url.path': '/v1/vehicles/v/batches',
      'faas.name': 'device-communication',
      'cloudevents.event_id': 'v/s/1',
    },
  });
  span.noteRead(7);
  span.hop.wait('activator', at(4));
  span.hop.sent(at(4), 'device-communication-1');
  span.end(201, '');
  expect(told.slice(0, 2)).toEqual(['http.request.body.size=7', 'upload -250 to 4']);
  expect(told).toContain('http.response.status_code=201');
  expect(told.filter((line) => line.startsWith('failed'))).toEqual([]);
});

test('a request goes on with its own place and send time, whatever its caller says', () => {
  const { tracing, context } = bench();
  const span = requestSpans(tracing, context).begin(get({}));
  expect(
    span.withContext([
      'Traceparent',
      EMITTED,
      'Tracestate',
      'v=1',
      'X-Request-Start',
      't=1.000000',
      'Accept',
      '*/*',
    ]),
  ).toEqual(['Accept', '*/*', 'traceparent', OWN]);
});

test.each([
  [null, '', 'failed CALLER_GONE'],
  [503, 'SERVICE_STARTING', 'failed SERVICE_STARTING'],
  [500, '', 'failed 500'],
])('a request that ends with %j %s: %s', (status, code, line) => {
  const { told, tracing, context } = bench();
  requestSpans(tracing, context).begin(get({})).end(status, code);
  expect(told).toContain(line);
});

test("a caller's fault is no failure of the span", () => {
  const { told, tracing, context } = bench();
  requestSpans(tracing, context).begin(get({})).end(422, 'BATCH_INVALID');
  expect(told.filter((line) => line.startsWith('failed'))).toEqual([]);
});
