import { expect, test } from 'vitest';
import { eventType, MAX_EXPORTED_RANGES } from './catalog.ts';
import type { CloudEvent } from './cloud-event.ts';
import { eventName, parseEventData } from './event-data.ts';

const event = (data: unknown, changes: Partial<CloudEvent> = {}): CloudEvent => ({
  id: '1',
  source: '/s',
  type: eventType('window.processed.v1'),
  datacontenttype: 'application/json',
  extensions: {},
  data: Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)),
  ...changes,
});

const good = { vehicle: 'veh-1', session: 's1', window: 7, revision: 1, versions: 'v~1' };

test('parseEventData returns the known fields alone', () => {
  expect(parseEventData('window.processed.v1', event({ ...good, later: true }))).toEqual(good);
});

test('parseEventData takes null for a whole session', () => {
  const exported = { vehicle: 'v', session: 's', window: null, revision: 2, files: 0, batches: [] };
  const type = eventType('dataset.exported.v1');
  expect(parseEventData('dataset.exported.v1', event(exported, { type }))).toEqual(exported);
});

const seqRange = (firstSeq: unknown, lastSeq: unknown) => ({ firstSeq, lastSeq });
const everySecond = (count: number) =>
  Array.from({ length: count }, (_, at) => seqRange(2 * at, 2 * at));

test.each([
  ['none', [], true],
  ['one', [seqRange(0, 99_999)], true],
  ['two with a gap of one', [seqRange(0, 4), seqRange(6, 6)], true],
  ['as many as allowed', everySecond(MAX_EXPORTED_RANGES), true],
  ['one too many', everySecond(MAX_EXPORTED_RANGES + 1), false],
  ['two that touch', [seqRange(0, 4), seqRange(5, 6)], false],
  ['two that overlap', [seqRange(0, 4), seqRange(4, 6)], false],
  ['two that descend', [seqRange(6, 7), seqRange(0, 4)], false],
  ['one backwards', [seqRange(4, 3)], false],
  ['one beyond the last number', [seqRange(0, 100_000)], false],
  ['one from below 0', [seqRange(-1, 3)], false],
  ['one without its end', [seqRange(0, undefined)], false],
  ['numbers', [3], false],
  ['null', [null], false],
  ['no array', { 0: seqRange(0, 1) }, false],
  ['nothing', undefined, false],
])('parseEventData of exported batches: %s', (_, batches, isAccepted) => {
  const exported = { vehicle: 'v', session: 's', window: 1, revision: 2, files: 0, batches };
  const type = eventType('dataset.exported.v1');
  const parse = () => parseEventData('dataset.exported.v1', event(exported, { type }));
  if (isAccepted) expect(parse()).toEqual(exported);
  else expect(parse).toThrow(/data\.batches = .* expected an array of at most 1000/);
});

test.each([
  [{ ...good, vehicle: '../x' }, 'data.vehicle = "../x"'],
  [{ ...good, session: '..' }, 'data.session = ".."'],
  [{ ...good, window: -1 }, 'data.window = -1 in window.processed.v1; expected an integer from 0'],
  [{ ...good, window: 1.5 }, 'data.window = 1.5'],
  [{ ...good, window: 100_000_000 }, 'to 99999999'],
  [{ ...good, revision: 0 }, 'data.revision = 0'],
  [{ ...good, versions: undefined }, 'data.versions = undefined'],
  [{ ...good, window: null }, 'data.window = null'],
  [[], 'a JSON object'],
  ['{', 'not JSON'],
])('parseEventData of %j names what is wrong', (data, message) => {
  expect(() => parseEventData('window.processed.v1', event(data))).toThrow(message);
});

test('parseEventData refuses another type and data that is not JSON', () => {
  expect(() => parseEventData('window.ready.v1', event(good))).toThrow('expected io.tachograph');
  expect(() =>
    parseEventData('window.processed.v1', event(good, { datacontenttype: 'text/plain' })),
  ).toThrow('datacontenttype = "text/plain"');
});

test('eventName knows our types and no others', () => {
  expect(eventName('io.tachograph.batch.stored.v1')).toBe('batch.stored.v1');
  expect(eventName('io.tachograph.batch.stored.v2')).toBeUndefined();
  expect(eventName('toString')).toBeUndefined();
});
