import type { WindowReady } from '#eventing/contracts/catalog.ts';
import type { BlockCodec } from '#kernel/columns/block-format.ts';
import { encodeTables } from '#kernel/columns/encode-tables.ts';
import { EMULATED_VERSIONS } from '#kernel/core/ids.ts';
import type { FrameAccount, ResultFact } from '#kernel/facts/facts.ts';

const NO_FRAMES: FrameAccount = {
  recorded: 0,
  decoded: 0,
  unknownId: 0,
  noData: 0,
  truncated: 0,
  unknownSelector: 0,
  longer: 0,
  unknownIds: [],
  unknownSelectors: [],
};

/**
 * The result of a window that nothing is computed for: the least that a result is. It follows from the
 * event alone, so that it costs no reading and a repeat makes the same one.
 */
export function emulatedResult(
  { vehicle, session, window, revision }: WindowReady,
  codec: BlockCodec,
  software: string,
): ResultFact {
  const empty = encodeTables([], codec);
  return {
    vehicle,
    session,
    window,
    revision,
    versions: EMULATED_VERSIONS,
    emulated: true,
    campaign: '',
    campaignVersion: 0,
    batches: [],
    dbc: {},
    software,
    fromUs: 0,
    untilUs: 0,
    frames: NO_FRAMES,
    unsortedFrames: 0,
    duplicateFrames: 0,
    quality: [],
    recorded: empty,
    raster: empty,
    samples: 0,
  };
}
