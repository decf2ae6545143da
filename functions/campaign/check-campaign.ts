import type { CampaignFault } from './yaml-text.ts';
import type { DecoderLibrary } from './decoder-library.ts';
import { estimateVolume, QUOTA_BYTES_PER_HOUR, type VolumeEstimate } from './estimate-volume.ts';
import { parseCampaign, type ParsedCampaign } from './parse-campaign.ts';
import { validateCampaign } from './validate-campaign.ts';

export interface CheckedCampaign extends Pick<ParsedCampaign, 'id' | 'definition'> {
  /** Empty when the campaign can be used; at most MAX_FAULTS. */
  readonly faults: readonly CampaignFault[];
  readonly faultCount: number;
  /** Null when the text itself has faults. */
  readonly estimate: VolumeEstimate | null;
}

/** Reads and judges a campaign: the text, its values, its fit to the decoders, its volume. */
export async function checkCampaign(
  bytes: Uint8Array,
  library: DecoderLibrary,
  nowMs: number,
): Promise<CheckedCampaign> {
  const { id, definition, reader } = parseCampaign(bytes);
  const result = () => ({ id, definition, faults: reader.faults, faultCount: reader.count });
  // Judging values that are not what they must be would only add confusion.
  if (reader.count > 0) return { ...result(), estimate: null };
  const databases = await library.databases(definition.decoders);
  const report = (path: string, message: string): void => reader.fault(path, message);
  validateCampaign(definition, databases, nowMs, report);
  const estimate = estimateVolume(definition, databases);
  if (estimate.storedBytesPerHour > QUOTA_BYTES_PER_HOUR) report('', overQuota(estimate));
  return { ...result(), estimate };
}

const overQuota = ({ signals, samplesPerS, storedBytesPerHour }: VolumeEstimate): string =>
  `The campaign would store ${mib(storedBytesPerHour)} MiB a vehicle and hour (${signals} signals, ` +
  `${samplesPerS} values/s); at most ${mib(QUOTA_BYTES_PER_HOUR)} are allowed. ` +
  'Record fewer signals or use a wider raster';

const mib = (bytes: number): number => Math.round(bytes / 1_048_576);
