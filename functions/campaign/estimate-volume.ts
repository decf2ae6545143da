import type { CampaignDefinition, RecordRule } from '#kernel/facts/campaign.ts';
import type { Message } from '#kernel/dbc/model.ts';
import { type Databases, messagesBySignal } from './validate-campaign.ts';

/**
 * What one vehicle makes of a campaign while it drives. Rounded; an upper bound for on-change
 * signals.
 */
export interface VolumeEstimate {
  readonly signals: number;
  readonly framesPerS: number;
  /** Decoded values, as recorded. */
  readonly samplesPerS: number;
  /** What the vehicle sends, compressed. */
  readonly uploadBytesPerS: number;
  /** Raw batches, decoded and resampled values, compressed. */
  readonly storedBytesPerS: number;
  readonly storedBytesPerHour: number;
  /** What was taken for what the campaign and the DBC do not say. */
  readonly assumptions: readonly string[];
}

/**
 * More than this a vehicle and hour is refused at creation. The largest profile (four full buses)
 * makes some 0.8.
 */
export const QUOTA_BYTES_PER_HOUR = 2 * 1024 ** 3;

/**
 * Measured on a minute of a real car (two buses, 125 messages, 1,647 frames/s, 149 signals):
 * 13 frames/s a message, 824 a bus; 5.9 bytes a frame in batches of 1 s, 4.3 in long ones; 0.66
 * bytes a decoded value. Rounded up.
 */
const DEFAULT_MESSAGE_PER_S = 13;
const DEFAULT_BUS_PER_S = 824;
const SHORT_BATCH_MS = 5_000;
const BYTES_PER_FRAME = { short: 6, long: 4.5 };
const BYTES_PER_SAMPLE = 0.7;

interface RecordedMessage {
  readonly message: Message;
  readonly perS: number;
}

/** The estimate for one vehicle. Signals that no decoder knows count as nothing. */
export function estimateVolume(
  definition: CampaignDefinition,
  databases: Databases,
): VolumeEstimate {
  const assumptions: string[] = [];
  let framesPerS = 0;
  let samplesPerS = 0;
  let signals = 0;
  for (const [bus, database] of databases) {
    const messages = recordedMessages(bus, definition, database.messages);
    noteUnknownCycles(bus, messages, assumptions);
    const decodedPerS = messages.reduce((sum, { perS }) => sum + perS, 0);
    framesPerS +=
      definition.rawFrames === 'all' ? Math.max(decodedPerS, DEFAULT_BUS_PER_S) : decodedPerS;
    // Every signal of a recorded frame is decoded, listed or not.
    for (const { message, perS } of messages) {
      samplesPerS += perS * message.signals.length;
      signals += message.signals.length;
    }
  }
  framesPerS += rawFramesPerS(definition, databases, assumptions);
  const { everyMs } = definition.upload;
  const frameBytes = everyMs < SHORT_BATCH_MS ? BYTES_PER_FRAME.short : BYTES_PER_FRAME.long;
  const rasterPerS = (signals * 1_000) / definition.processing.resample.rasterMs;
  const uploadBytesPerS = framesPerS * frameBytes;
  const storedBytesPerS = uploadBytesPerS + (samplesPerS + rasterPerS) * BYTES_PER_SAMPLE;
  assumptions.push(`${frameBytes} bytes a frame and ${BYTES_PER_SAMPLE} bytes a value, compressed`);
  return {
    signals,
    framesPerS: Math.round(framesPerS),
    samplesPerS: Math.round(samplesPerS),
    uploadBytesPerS: Math.round(uploadBytesPerS),
    storedBytesPerS: Math.round(storedBytesPerS),
    storedBytesPerHour: Math.round(storedBytesPerS * 3_600),
    assumptions,
  };
}

/**
 * The messages of a bus that a vehicle records, each at the rate of the most eager of its signals.
 */
function recordedMessages(
  bus: string,
  { signals, rawFrames }: CampaignDefinition,
  messages: readonly Message[],
): readonly RecordedMessage[] {
  const cyclePerS = ({ cycleMs }: Message): number =>
    cycleMs === undefined ? DEFAULT_MESSAGE_PER_S : 1_000 / cycleMs;
  if (rawFrames === 'all' || signals.length === 0) {
    return messages.map((message) => ({ message, perS: cyclePerS(message) }));
  }
  const bySignal = messagesBySignal({ version: '', messages, faults: [] });
  const rates = new Map<Message, number>();
  for (const { name, record } of signals.filter((signal) => signal.bus === bus)) {
    const message = bySignal.get(name);
    if (message === undefined) continue;
    const perS = Math.min(cyclePerS(message), rulePerS(record));
    rates.set(message, Math.max(rates.get(message) ?? 0, perS));
  }
  return [...rates].map(([message, perS]) => ({ message, perS }));
}

/**
 * How often a rule records at most. On change: at every frame, as nobody knows what will change.
 */
const rulePerS = (rule: RecordRule): number =>
  'everyMs' in rule ? 1_000 / rule.everyMs : Number.POSITIVE_INFINITY;

function noteUnknownCycles(
  bus: string,
  messages: readonly RecordedMessage[],
  assumptions: string[],
): void {
  const unknown = messages.filter(({ message }) => message.cycleMs === undefined).length;
  if (unknown === 0) return;
  const known = `${unknown} of ${messages.length} messages have no cycle time in the DBC`;
  assumptions.push(`${bus}: ${known}; ${DEFAULT_MESSAGE_PER_S} frames/s each`);
}

/** Frames beside those of the decoders' messages. */
function rawFramesPerS(
  { rawFrames }: CampaignDefinition,
  databases: Databases,
  assumptions: string[],
): number {
  if (rawFrames === 'none') return 0;
  if (rawFrames === 'all') {
    assumptions.push(`all frames: at least ${DEFAULT_BUS_PER_S} frames/s a bus`);
    if (databases.size > 0) {
      assumptions.push(
        'buses without a decoder are not counted, as the campaign does not name them',
      );
      return 0;
    }
    assumptions.push('one bus');
    return DEFAULT_BUS_PER_S;
  }
  if (rawFrames.length > 0) {
    assumptions.push(`${rawFrames.length} raw ids: ${DEFAULT_MESSAGE_PER_S} frames/s each`);
  }
  return rawFrames.length * DEFAULT_MESSAGE_PER_S;
}
