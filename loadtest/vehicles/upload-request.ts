import { BATCH_RECORDED_TYPE } from '#eventing/contracts/catalog.ts';
import { batchId } from '#kernel/core/ids.ts';
import type { Batch, FrameGroup } from '#kernel/batch/batch.ts';
import type { Random } from '#kernel/core/random.ts';
import type { DriveSlice } from './cut-drive.ts';
import type { VehicleIdentity } from './identities.ts';
import type { DueCampaign } from './vehicle.ts';

/** The batch a vehicle makes of a slice of its drive. Its clock pair is the end of the slice. */
export function batchOf(
  identity: VehicleIdentity,
  campaign: Pick<DueCampaign, 'campaign' | 'version'>,
  slice: DriveSlice,
  seq: number,
): Batch {
  return {
    vehicle: identity.vehicle,
    session: identity.session,
    seq,
    campaign: campaign.campaign,
    campaignVersion: campaign.version,
    fromUs: slice.fromUs,
    untilUs: slice.untilUs,
    clock: {
      monotonicUs: slice.untilUs,
      wallUs: identity.wallStartUs + slice.untilUs,
      source: 'rtc',
    },
    end: slice.end,
    counts: { seen: slice.seen, matched: slice.matched, recorded: slice.matched, dropped: {} },
    groups: slice.groups,
  };
}

const NO_GROUPS: readonly FrameGroup[] = [];

/** The batch without its frames: what the cache had no room for, accounted as `bufferFull`. */
export function emptyBatch(batch: Batch): Batch {
  const { seen, matched, recorded } = batch.counts;
  const dropped = recorded === 0 ? batch.counts.dropped : { bufferFull: recorded };
  return { ...batch, counts: { seen, matched, recorded: 0, dropped }, groups: NO_GROUPS };
}

export interface UploadRequest {
  readonly vehicle: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * The HTTP request of an upload: a CloudEvent in binary mode. `intendedWallUs` is when the load
 * generator meant to send it, whatever happened since, so that latency has no coordinated omission.
 */
export function uploadRequest(
  batch: Pick<Batch, 'vehicle' | 'session' | 'seq' | 'campaign'>,
  body: Uint8Array,
  intendedWallUs: number,
  traceparent: string,
): UploadRequest {
  return {
    vehicle: batch.vehicle,
    headers: {
      'content-type': 'application/cbor',
      'content-encoding': 'gzip',
      'ce-specversion': '1.0',
      'ce-id': batchId(batch.vehicle, batch.session, batch.seq),
      'ce-source': `/tachograph/vehicles/${batch.vehicle}`,
      'ce-type': BATCH_RECORDED_TYPE,
      'ce-subject': batch.vehicle,
      'ce-partitionkey': batch.vehicle,
      'ce-traceparent': traceparent,
      traceparent,
      'ce-tachointended': rfc3339Us(intendedWallUs),
    },
    body,
  };
}

/** RFC 3339 with µs: 1,767,600,000,123,456 → `2026-01-05T08:00:00.123456Z`. */
export function rfc3339Us(wallUs: number): string {
  const us = Math.round(wallUs);
  const seconds = new Date(Math.floor(us / 1_000_000) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(us % 1_000_000).padStart(6, '0')}Z`;
}

/** A sampled W3C trace context: version 00, 16 random bytes, 8 random bytes, flag 01. */
export function traceparentOf(random: Random): string {
  const hex8 = (): string =>
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const trace = `${hex8()}${hex8()}${hex8()}${hex8()}`;
  return `00-${trace}-${hex8()}${hex8()}-01`;
}
