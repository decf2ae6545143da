import { expect, test } from 'vitest';
import type { ReceiptFact, SessionFact, WindowFact } from '#kernel/facts/facts.ts';
import { isoTime, type ResultAccount, sessionSidecar, signalKey } from './session-sidecar.ts';
import type { DatasetSource } from './dataset-source.ts';

const receipt = (seq: number, change: Partial<ReceiptFact> = {}): ReceiptFact =>
  ({
    seq,
    fromUs: seq * 10,
    untilUs: seq * 10 + 10,
    frames: 4,
    seen: 9,
    matched: 6,
    recordedByVehicle: 4,
    dropped: { rateLimit: 1, bufferFull: 1 },
    clock: { monotonicUs: seq * 10, wallUs: 1_000 + seq * 12, source: 'ntp' },
    flags: [],
    sha256: `hash ${seq}`,
    bodyBytes: 50,
    receivedAtMs: 70 + seq,
    ...change,
  }) as ReceiptFact;

const quality = (signal: string, constant: boolean) => ({
  bus: 'can0',
  message: 'M',
  signal,
  samples: 3,
  outOfRange: 1,
  notAvailable: 2,
  constant,
});

const count = (id: number, frames: number) => ({ bus: 'can0', id, extended: false, frames });

const result = (software: string, ids: readonly ReturnType<typeof count>[]): ResultAccount =>
  ({
    software,
    samples: 12,
    unsortedFrames: 1,
    duplicateFrames: 2,
    quality: [quality('B', true), quality('A', true)],
    frames: {
      recorded: 10,
      decoded: 6,
      unknownId: 3,
      noData: 1,
      truncated: 1,
      unknownSelector: 0,
      longer: 2,
      unknownIds: ids,
      unknownSelectors: [],
    },
  }) as unknown as ResultAccount;

const window = (at: number, revision: number): WindowFact =>
  ({
    window: at,
    revision,
    fromUs: at * 10,
    untilUs: at * 10 + 10,
    reason: 'covered',
    gaps: [],
    seqs: [at],
  }) as unknown as WindowFact;

const account = () =>
  sessionSidecar({
    source: {
      software: 'tachograph/1.0.0',
      dbc: { can0: 'abc' },
      campaign: {
        campaign: 'c1',
        version: 2,
        definitionSha256: 'def',
        definition: { name: 'Test drive' },
      },
    } as unknown as DatasetSource,
    session: {
      vehicle: 'v1',
      session: 's1',
      revision: 2,
      reason: 'endMark',
      batches: 2,
      firstSeq: 0,
      lastSeq: 2,
      gaps: [{ firstSeq: 1, lastSeq: 1 }],
    } as unknown as SessionFact,
    startUs: 1_000,
    windows: [window(0, 1), window(2, 2)],
    results: [result('b', [count(9, 2), count(7, 1)]), result('a', [count(7, 3)])],
    receipts: [receipt(0), receipt(2, { dropped: { bufferFull: 5 } })],
    files: [
      { path: 'v1/s1/recorded/b.csv', sha256: 'y', bytes: 2, rows: 1 },
      { path: 'v1/s1/recorded/a.csv', sha256: 'x', bytes: 1, rows: 1 },
    ],
    constantSignals: new Set([signalKey('can0', 'M', 'A')]),
  });

test('sessionSidecar + frames add up: recorded = decoded + unknownId + noData', () => {
  const { frames } = account();
  expect(frames).toMatchObject({
    seenByVehicle: 18,
    matchedByVehicle: 12,
    recordedByVehicle: 8,
    received: 8,
    recorded: 20,
    decoded: 12,
    unknownId: 6,
    noData: 2,
    truncated: 2,
    longer: 4,
    unsorted: 2,
    duplicates: 4,
    droppedByVehicle: { bufferFull: 6, rateLimit: 1 },
    unknownIds: [count(7, 4), count(9, 2)],
  });
  expect(frames.recorded).toBe(frames.decoded + frames.unknownId + frames.noData);
});

test('sessionSidecar + a later clock pair is reported with its offset and not applied', () => {
  expect(account().time).toMatchObject({
    startUs: 1_000,
    start: '1970-01-01T00:00:00.001000Z',
    fromUs: 0,
    untilUs: 30,
    clocks: [
      { seq: 0, aheadUs: 0 },
      { seq: 2, monotonicUs: 20, wallUs: 1_024, source: 'ntp', aheadUs: 4 },
    ],
  });
});

test('sessionSidecar + quality is summed; constant is what the whole session shows', () => {
  const expected = { samples: 6, outOfRange: 2, notAvailable: 4 };
  expect(account().quality).toMatchObject([
    { signal: 'A', ...expected, constant: true },
    { signal: 'B', ...expected, constant: false },
  ]);
});

test('sessionSidecar + names revisions, receive times, gaps, software and files in order', () => {
  expect(account()).toMatchObject({
    schema: 'tachograph.session/1',
    revision: 2,
    closed: 'endMark',
    software: { export: 'tachograph/1.0.0', processing: ['a', 'b'] },
    batches: {
      gaps: [{ firstSeq: 1, lastSeq: 1 }],
      received: [{ receivedAtMs: 70 }, { receivedAtMs: 72 }],
    },
    windows: [
      { window: 0, revision: 1 },
      { window: 2, revision: 2, batches: [2], samples: 12 },
    ],
    files: [{ sha256: 'x' }, { sha256: 'y' }],
  });
});

test.each([
  [0, '1970-01-01T00:00:00.000000Z'],
  [-1, '1969-12-31T23:59:59.999999Z'],
  [4_102_444_800_000_001, '2100-01-01T00:00:00.000001Z'],
  [1e19, null],
])('isoTime + %d µs is %s', (us, text) => {
  expect(isoTime(us)).toBe(text);
});
