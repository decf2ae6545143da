import { BATCH_RECORDED_TYPE } from '#eventing/contracts/catalog.ts';
import { batchId } from '#kernel/core/ids.ts';
import type { Batch, FrameGroup } from '#kernel/batch/batch.ts';
import { formatIntended, INTENDED } from '#kernel/core/intended-time.ts';
import type { TraceFields } from '#kernel/telemetry/propagation.ts';
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
  place?: TraceFields,
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
      [`ce-${INTENDED}`]: formatIntended(intendedWallUs),
      ...(place === undefined ? {} : contextHeaders(place)),
    },
    body,
  };
}

/** For whoever passes the request on, for whoever reads the event, and for where a broker blanks both. */
function contextHeaders({ traceparent, tracestate }: TraceFields): Record<string, string> {
  return {
    traceparent,
    'ce-traceparent': traceparent,
    'ce-tachotrace': traceparent,
    ...(tracestate === undefined ? {} : { tracestate, 'ce-tracestate': tracestate }),
  };
}
