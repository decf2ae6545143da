import { expect, test } from 'vitest';
import { consumerName, isDnsLabel, streamName, typeSubject } from './broker-names.ts';

const key = { namespace: 'tachograph', name: 'default' };

test('names and subjects of a Broker are what JetStream takes', () => {
  expect(streamName(key)).toBe('BROKER_tachograph__default');
  expect(consumerName('a.b')).toBe('TRIGGER_a_b');
  expect(typeSubject(key, 'io.tachograph.batch.stored.v1')).toBe(
    'broker.tachograph.default.io_tachograph_batch_stored_v1',
  );
});

test('typeSubject keeps wildcards, spaces and length out of subjects', () => {
  expect(typeSubject(key, 'a > * b')).toBe('broker.tachograph.default.a_____b');
  expect(typeSubject(key, 'x'.repeat(10_000))).toHaveLength(
    'broker.tachograph.default.'.length + 128,
  );
});

test.each([
  ['default', true],
  ['a-1', true],
  ['-a', false],
  ['A', false],
  ['a.b', false],
  ['', false],
  ['x'.repeat(64), false],
])('isDnsLabel of "%s" is %s', (text, expected) => {
  expect(isDnsLabel(text)).toBe(expected);
});
