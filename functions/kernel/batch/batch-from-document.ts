import {
  isFdLength,
  MAX_BASE_ID,
  MAX_CLASSIC_LENGTH,
  MAX_EXTENDED_ID,
  MAX_FD_LENGTH,
} from '../canlog/can-frame.ts';
import { TachographError } from '../core/errors.ts';
import { isNamePart, MAX_SEQ } from '../core/ids.ts';
import {
  MAX_CAMPAIGN_VERSION,
  MAX_COUNT,
  MAX_DROP_REASONS,
  MAX_FRAMES,
  MAX_GROUPS,
  MAX_SESSION_US,
  MAX_SPAN_US,
  MAX_WALL_US,
} from './batch-limits.ts';
import type { Batch, ClockPair, FrameCounts, FrameGroup, FrameKind } from './batch.ts';
import { BATCH_SCHEMA } from './batch.ts';
import type { ObjectAt } from './field-reader.ts';
import {
  arrayField,
  booleanField,
  choiceField,
  integerAt,
  integerField,
  invalidField,
  isRecord,
  nameField,
  objectAt,
  pathOf,
} from './field-reader.ts';
import type { BodyFormat } from './strict-decode.ts';
import { untranspose } from './transpose.ts';

const BATCH_FIELDS = [
  'schema',
  'vehicle',
  'session',
  'seq',
  'campaign',
  'campaignVersion',
  'fromUs',
  'untilUs',
  'clock',
  'end',
  'emulated',
  'counts',
  'groups',
];
const KINDS: readonly FrameKind[] = ['data', 'fd', 'remote', 'error'];
const CLOCK_SOURCES = ['gnss', 'ntp', 'rtc', 'none'] as const;
const GROUP_FIELDS = ['bus', 'id', 'extended', 'kind', 'dtUs'];
const PAYLOAD_FIELDS = { cbor: ['lengths', 'payload'], json: ['payloadHex'] } as const;
const HEX_BYTES = /^(?:[0-9A-Fa-f]{2})*$/;

/**
 * Checks every field of a decoded body and builds the batch. Throws BATCH_SCHEMA_UNKNOWN,
 * FIELD_INVALID.
 */
export function batchFromDocument(document: unknown, format: BodyFormat): Batch {
  // The schema first: a newer one may well have fields that are unknown here.
  if (!isRecord(document)) throw invalidField('body', document, 'an object with a schema');
  if (document['schema'] !== BATCH_SCHEMA) {
    const value = JSON.stringify(document['schema'] ?? null).slice(0, 100);
    throw new TachographError('BATCH_SCHEMA_UNKNOWN', { value, known: BATCH_SCHEMA });
  }
  const at = objectAt(document, '', BATCH_FIELDS);
  const emulated = readEmulated(at);
  const fromUs = integerField(at, 'fromUs', 0, MAX_SESSION_US);
  const untilUs = integerField(at, 'untilUs', fromUs + 1, fromUs + MAX_SPAN_US);
  return {
    vehicle: nameField(at, 'vehicle'),
    session: nameField(at, 'session'),
    seq: integerField(at, 'seq', 0, MAX_SEQ),
    campaign: nameField(at, 'campaign'),
    campaignVersion: integerField(at, 'campaignVersion', 1, MAX_CAMPAIGN_VERSION),
    fromUs,
    untilUs,
    clock: readClock(at),
    end: booleanField(at, 'end'),
    ...(emulated ? { emulated: true } : {}),
    counts: readCounts(at),
    groups: readGroups(at, format, { fromUs, untilUs }, emulated ? 0 : MAX_GROUPS),
  };
}

/** The one field that may be left out, which says the same as false would. */
function readEmulated(batch: ObjectAt): boolean {
  const value = batch.fields['emulated'];
  if (value === undefined || value === true) return value === true;
  throw invalidField('emulated', value, 'true, or left out');
}

function readClock(batch: ObjectAt): ClockPair {
  const at = objectAt(batch.fields['clock'], 'clock', ['monotonicUs', 'wallUs', 'source']);
  return {
    monotonicUs: integerField(at, 'monotonicUs', 0, MAX_SESSION_US),
    wallUs: integerField(at, 'wallUs', 0, MAX_WALL_US),
    source: choiceField(at, 'source', CLOCK_SOURCES),
  };
}

function readCounts(batch: ObjectAt): FrameCounts {
  const fields = ['seen', 'matched', 'recorded', 'dropped'];
  const at = objectAt(batch.fields['counts'], 'counts', fields);
  return {
    seen: integerField(at, 'seen', 0, MAX_COUNT),
    matched: integerField(at, 'matched', 0, MAX_COUNT),
    recorded: integerField(at, 'recorded', 0, MAX_COUNT),
    dropped: readDropped(at),
  };
}

function readDropped(counts: ObjectAt): FrameCounts['dropped'] {
  const path = pathOf(counts, 'dropped');
  const dropped = counts.fields['dropped'];
  if (!isRecord(dropped)) throw invalidField(path, dropped, 'an object of counts by reason');
  const reasons = Object.keys(dropped);
  if (reasons.length > MAX_DROP_REASONS) {
    throw invalidField(path, dropped, `an object of at most ${MAX_DROP_REASONS} reasons`);
  }
  const entries = reasons.map((reason): [string, number] => {
    // A reason becomes a key of sums: `constructor` and its like would not start from nothing
    // there.
    if (!isNamePart(reason) || reason in Object.prototype) {
      throw invalidField(path, reason, 'keyed by names such as bufferFull');
    }
    return [reason, integerAt(dropped[reason], `${path}.${reason}`, 0, MAX_COUNT)];
  });
  return Object.fromEntries(entries);
}

interface Span {
  readonly fromUs: number;
  readonly untilUs: number;
}

function readGroups(
  batch: ObjectAt,
  format: BodyFormat,
  span: Span,
  maxGroups: number,
): FrameGroup[] {
  const seen = new Set<string>();
  let framesLeft = MAX_FRAMES;
  return arrayField(batch, 'groups', 0, maxGroups).map((value, index) => {
    const path = `groups[${index}]`;
    const group = readGroup(value, path, format, span, framesLeft);
    framesLeft -= group.timeUs.length;
    const key = `${group.bus}/${group.id}/${group.extended}/${group.kind}`;
    if (seen.has(key)) {
      throw invalidField(path, key, 'the only group of its bus, id, extended and kind');
    }
    seen.add(key);
    return group;
  });
}

function readGroup(
  value: unknown,
  path: string,
  format: BodyFormat,
  span: Span,
  framesLeft: number,
): FrameGroup {
  const any = objectAt(value, path, [...GROUP_FIELDS, ...PAYLOAD_FIELDS[format]]);
  const kind = choiceField(any, 'kind', KINDS);
  const withData = kind === 'data' || kind === 'fd';
  const at = withData ? any : objectAt(value, path, GROUP_FIELDS);
  const extended = booleanField(at, 'extended');
  const maxId = kind === 'error' ? 0 : extended ? MAX_EXTENDED_ID : MAX_BASE_ID;
  const timeUs = readTimes(at, span, framesLeft);
  return {
    bus: nameField(at, 'bus'),
    id: integerField(at, 'id', 0, maxId),
    extended,
    kind,
    timeUs,
    ...(withData ? readFrames(at, kind, format, timeUs.length) : noFrames(timeUs.length)),
  };
}

function readTimes(at: ObjectAt, span: Span, framesLeft: number): Float64Array {
  const deltas = at.fields['dtUs'];
  const path = pathOf(at, 'dtUs');
  if (!Array.isArray(deltas) || deltas.length === 0 || deltas.length > framesLeft) {
    const allowed = `an array of 1 to ${framesLeft} entries (${MAX_FRAMES} frames in all groups)`;
    throw invalidField(path, deltas, allowed);
  }
  let timeUs = span.fromUs;
  return Float64Array.from(deltas, (delta: unknown, index) => {
    if (typeof delta !== 'number' || !Number.isInteger(delta)) {
      throw invalidField(`${path}[${index}]`, delta, 'an integer');
    }
    timeUs += delta;
    if (timeUs < span.fromUs || timeUs >= span.untilUs) {
      const range = `from fromUs ${span.fromUs} to below untilUs ${span.untilUs}`;
      const allowed = `a step to a time ${range}, not to ${timeUs}`;
      throw invalidField(`${path}[${index}]`, delta, allowed);
    }
    return timeUs;
  });
}

type Frames = Pick<FrameGroup, 'lengths' | 'payload'>;

const noFrames = (frames: number): Frames => ({
  lengths: new Uint8Array(frames),
  payload: new Uint8Array(0),
});

function readFrames(at: ObjectAt, kind: 'data' | 'fd', format: BodyFormat, frames: number): Frames {
  return format === 'cbor' ? readColumns(at, kind, frames) : readHexFrames(at, kind, frames);
}

const lengthRule = {
  data: `0 to ${MAX_CLASSIC_LENGTH}`,
  fd: `0 to 8, 12, 16, 20, 24, 32, 48 or ${MAX_FD_LENGTH}`,
} as const;

const isLength = (kind: 'data' | 'fd', length: number): boolean =>
  kind === 'fd' ? isFdLength(length) : length >= 0 && length <= MAX_CLASSIC_LENGTH;

function readColumns(at: ObjectAt, kind: 'data' | 'fd', frames: number): Frames {
  const lengths = readLengths(at, kind, frames);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const payload = at.fields['payload'];
  if (!(payload instanceof Uint8Array) || payload.length !== total) {
    const allowed = `${total} bytes, the sum of the lengths of ${frames} frames`;
    throw invalidField(pathOf(at, 'payload'), payload, allowed);
  }
  return { lengths, payload: untranspose(payload, lengths) };
}

function readLengths(at: ObjectAt, kind: 'data' | 'fd', frames: number): Uint8Array {
  const value = at.fields['lengths'];
  const path = pathOf(at, 'lengths');
  if (typeof value === 'number') {
    if (Number.isInteger(value) && isLength(kind, value)) return new Uint8Array(frames).fill(value);
    throw invalidField(path, value, `the length of all frames, ${lengthRule[kind]}`);
  }
  if (!(value instanceof Uint8Array) || value.length !== frames) {
    throw invalidField(path, value, `one length for all frames, or ${frames} bytes, one a frame`);
  }
  const wrong = value.findIndex((length) => !isLength(kind, length));
  if (wrong >= 0) throw invalidField(`${path}[${wrong}]`, value[wrong], lengthRule[kind]);
  return value;
}

function readHexFrames(at: ObjectAt, kind: 'data' | 'fd', frames: number): Frames {
  const rows = arrayField(at, 'payloadHex', frames, frames);
  const lengths = new Uint8Array(frames);
  const texts = rows.map((row, index) => {
    const path = `${pathOf(at, 'payloadHex')}[${index}]`;
    if (typeof row !== 'string' || !HEX_BYTES.test(row) || !isLength(kind, row.length / 2)) {
      throw invalidField(path, row, `hex digits of ${lengthRule[kind]} bytes`);
    }
    lengths[index] = row.length / 2;
    return row;
  });
  return { lengths, payload: new Uint8Array(Buffer.from(texts.join(''), 'hex')) };
}
