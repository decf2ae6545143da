import { expect, test } from 'vitest';
import { eventFromHttp } from '#eventing/contracts/codec.ts';
import { randomStream } from '#kernel/core/random.ts';
import { vehicleIdentity } from './identities.ts';
import { batchOf, emptyBatch, rfc3339Us, traceparentOf, uploadRequest } from './upload-request.ts';
import type { DriveSlice } from './cut-drive.ts';

const slice: DriveSlice = {
  fromUs: 2_000_000,
  untilUs: 3_000_000,
  end: true,
  seen: 5,
  matched: 1,
  groups: [
    {
      bus: 'can0',
      id: 1,
      extended: false,
      kind: 'data',
      timeUs: Float64Array.of(2_500_000),
      lengths: Uint8Array.of(1),
      payload: Uint8Array.of(9),
    },
  ],
};

const batch = batchOf(vehicleIdentity(1, 0), { campaign: 'demo', version: 3 }, slice, 2);

test('batchOf: the clock pair is the end of the slice', () => {
  expect(batch).toMatchObject({
    vehicle: 'veh-0001',
    seq: 2,
    campaignVersion: 3,
    clock: { monotonicUs: 3_000_000, wallUs: Date.UTC(2026, 0, 5, 8, 0, 3) * 1_000, source: 'rtc' },
    end: true,
    counts: { seen: 5, matched: 1, recorded: 1, dropped: {} },
  });
});

test('emptyBatch: no frames, the loss in the account, twice as once', () => {
  const empty = emptyBatch(batch);
  expect(empty.groups).toEqual([]);
  expect(empty.counts).toEqual({ seen: 5, matched: 1, recorded: 0, dropped: { bufferFull: 1 } });
  expect(emptyBatch(empty)).toEqual(empty);
});

test('uploadRequest: a valid CloudEvent in binary mode', () => {
  const trace = traceparentOf(randomStream(1, 'trace'));
  const request = uploadRequest(batch, Uint8Array.of(1, 2), 1_767_600_000_123_456, trace);
  const event = eventFromHttp(request.headers, request.body);
  expect(event).toMatchObject({
    id: 'veh-0001/sa7c01be239ab/00000002',
    source: '/tachograph/vehicles/veh-0001',
    type: 'io.tachograph.batch.recorded.v1',
    subject: 'veh-0001',
    datacontenttype: 'application/cbor',
    extensions: {
      partitionkey: 'veh-0001',
      traceparent: trace,
      tachointended: '2026-01-05T08:00:00.123456Z',
    },
  });
});

test.each([
  [0, '1970-01-01T00:00:00.000000Z'],
  [1_767_600_000_000_001, '2026-01-05T08:00:00.000001Z'],
  [1_767_600_000_999_999.75, '2026-01-05T08:00:01.000000Z'],
])('rfc3339Us of %d: %s', (wallUs, text) => {
  expect(rfc3339Us(wallUs)).toBe(text);
});

test('traceparentOf: version, trace, span, sampled; the same stream gives the same ones', () => {
  const trace = traceparentOf(randomStream(1, 'a'));
  expect(trace).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(traceparentOf(randomStream(1, 'a'))).toBe(trace);
  expect(traceparentOf(randomStream(1, 'b'))).not.toBe(trace);
});
