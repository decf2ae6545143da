import { expect, test } from 'vitest';
import { parseDurationMs, parseTrigger } from './trigger-spec.ts';

const manifest = (spec: object, metadata: object = {}): object => ({
  apiVersion: 'eventing.knative.dev/v1',
  kind: 'Trigger',
  metadata: { name: 'stored', namespace: 'tachograph', ...metadata },
  spec: {
    broker: 'default',
    subscriber: { ref: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'export' } },
    ...spec,
  },
});

test('parseTrigger reads every field', () => {
  const ref = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'export' };
  expect(
    parseTrigger(
      manifest(
        {
          filter: { attributes: { type: 'a.b', subject: '' } },
          delivery: {
            retry: 5,
            backoffPolicy: 'linear',
            backoffDelay: 'PT0.5S',
            timeout: 'PT2M',
            deadLetterSink: { ref, uri: '/dead-letter' },
          },
        },
        { annotations: { 'tachograph.io/max-in-flight': '4' } },
      ),
    ),
  ).toEqual({
    name: 'stored',
    broker: { namespace: 'tachograph', name: 'default' },
    filter: { type: 'a.b', subject: '' },
    subscriber: { ref: { ...ref, namespace: 'tachograph' } },
    delivery: {
      retry: 5,
      backoffPolicy: 'linear',
      backoffDelayMs: 500,
      maxBackoffMs: 600_000,
      timeoutMs: 120_000,
      deadLetterSink: { ref: { ...ref, namespace: 'tachograph' }, uri: '/dead-letter' },
    },
    maxInFlight: 4,
  });
});

test('parseTrigger fills in the defaults', () => {
  const uri = 'http://127.0.0.1:80/x';
  expect(parseTrigger(manifest({ subscriber: { uri } }))).toMatchObject({
    filter: {},
    subscriber: { uri },
    delivery: { retry: 10, backoffPolicy: 'exponential', backoffDelayMs: 200, timeoutMs: 30_000 },
    maxInFlight: 8,
  });
});

test.each([
  [{ broker: 7 }, 'spec.broker = "7"'],
  [{ broker: 'a.b' }, 'spec.broker = "a.b"'],
  [{ filters: [] }, 'spec.filters'],
  [{ filter: { attributes: { Type: 'x' } } }, 'spec.filter.attributes.Type'],
  [{ filter: { attributes: { type: 1 } } }, 'spec.filter.attributes.type = "1"'],
  [{ subscriber: {} }, 'spec.subscriber'],
  [{ subscriber: { uri: '/relative' } }, 'spec.subscriber.uri = "/relative"'],
  [{ subscriber: { ref: { name: 'x' } } }, 'spec.subscriber.ref.apiVersion = "absent"'],
  [{ delivery: { retries: 3 } }, 'spec.delivery.retries = "3"'],
  [{ delivery: { retry: -1 } }, 'spec.delivery.retry = "-1"'],
  [{ delivery: { retry: 1.5 } }, 'spec.delivery.retry = "1.5"'],
  [{ delivery: { retry: 1001 } }, 'give an integer from 0 to 1000'],
  [{ delivery: { backoffPolicy: 'random' } }, 'spec.delivery.backoffPolicy = "random"'],
  [{ delivery: { backoffDelay: '0.2s' } }, 'spec.delivery.backoffDelay = "0.2s"'],
  [{ delivery: { timeout: 'PT0S' } }, 'spec.delivery.timeout = "PT0S"'],
  [{ delivery: { timeout: 'P1D' } }, 'at most 3600000 ms'],
  [{ delivery: { deadLetterSink: { url: 'x' } } }, 'spec.delivery.deadLetterSink.url'],
  [{ delivery: [] }, 'spec.delivery = "[]"'],
])('parseTrigger of %j names the field', (spec, message) => {
  expect(() => parseTrigger(manifest(spec))).toThrow(message);
});

test.each(['0', '1025', 'many', '-1'])('parseTrigger refuses max-in-flight %s', (value) => {
  const annotations = { 'tachograph.io/max-in-flight': value };
  expect(() => parseTrigger(manifest({}, { annotations }))).toThrow(/max-in-flight.*1 to 1024/);
});

test('parseTrigger refuses what is no Trigger', () => {
  expect(() => parseTrigger({ kind: 'Broker' })).toThrow('kind = "Broker"');
  expect(() => parseTrigger('text')).toThrow('give an object');
});

test.each([
  ['PT0.2S', 200],
  ['PT0,2S', 200],
  ['PT30S', 30_000],
  ['PT1M30S', 90_000],
  ['PT2H', 7_200_000],
  ['P1DT2H', 93_600_000],
  ['P1D', 86_400_000],
  ['P', undefined],
  ['PT', undefined],
  ['P1DT', undefined],
  ['P1Y', undefined],
  ['P1M', undefined],
  ['30s', undefined],
  ['-PT1S', undefined],
])('parseDurationMs of %s is %s', (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});
