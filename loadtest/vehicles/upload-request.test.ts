import { expect, test } from 'vitest';
import { eventFromHttp } from '#eventing/contracts/codec.ts';
import { vehicleIdentity } from './identities.ts';
import { batchOf, emptyBatch, uploadRequest } from './upload-request.ts';
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
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const place = { traceparent, tracestate: 'v=1' };
  const request = uploadRequest(batch, Uint8Array.of(1, 2), 1_767_600_000_123_456, place);
  const event = eventFromHttp(request.headers, request.body);
  expect(event).toMatchObject({
    id: 'veh-0001/sa7c01be239ab/00000002',
    source: '/tachograph/vehicles/veh-0001',
    type: 'io.tachograph.batch.recorded.v1',
    subject: 'veh-0001',
    datacontenttype: 'application/cbor',
    extensions: {
      partitionkey: 'veh-0001',
      traceparent,
      tracestate: 'v=1',
      tachotrace: traceparent,
      tachointended: '2026-01-05T08:00:00.123456Z',
    },
  });
  expect(request.headers).toMatchObject(place);
});

test('uploadRequest of a batch that is not traced names no place in a trace', () => {
  const { headers } = uploadRequest(batch, Uint8Array.of(1, 2), 1_767_600_000_123_456);
  expect(Object.keys(headers).filter((name) => name.includes('trace'))).toEqual([]);
});
