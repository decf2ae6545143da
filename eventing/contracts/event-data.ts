import { MAX_SEQ, MAX_WINDOW } from '#kernel/core/ids.ts';
import { invalid, isJson } from './attributes.ts';
import type { EventData, EventName } from './catalog.ts';
import { eventType, MAX_EXPORTED_RANGES } from './catalog.ts';
import type { CloudEvent } from './cloud-event.ts';

/** Versions, revisions and counts; ids.ts bounds the ones that become part of an id more narrowly. */
const MAX_COUNT = 999_999;

/** Says what a field must be, or undefined when the value is that. */
type Check = (value: unknown) => string | undefined;

const NAME = /^[A-Za-z0-9._~-]{1,64}$/;
const name: Check = (value) =>
  typeof value === 'string' && NAME.test(value) && value !== '.' && value !== '..'
    ? undefined
    : 'a name of 1 to 64 of letters, digits, ".", "_", "~" and "-"';

const integer =
  (min: number, max = MAX_COUNT): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : `an integer from ${min} to ${max}`;

const orNull =
  (check: Check): Check =>
  (value) => {
    if (value === null) return undefined;
    const expected = check(value);
    return expected === undefined ? undefined : `${expected}, or null`;
  };

/** [{firstSeq: 0, lastSeq: 4}, {firstSeq: 7, lastSeq: 7}]; ranges ascend and have a gap between them. */
const seqRanges: Check = (value) => {
  const expected =
    `an array of at most ${MAX_EXPORTED_RANGES} ascending, separate ranges ` +
    `{firstSeq, lastSeq} of 0 to ${MAX_SEQ}`;
  if (!Array.isArray(value) || value.length > MAX_EXPORTED_RANGES) return expected;
  const isSeq = (seq: unknown): seq is number => integer(0, MAX_SEQ)(seq) === undefined;
  let after = 0;
  for (const range of value as unknown[]) {
    if (typeof range !== 'object' || range === null) return expected;
    const { firstSeq, lastSeq } = range as Record<string, unknown>;
    if (!isSeq(firstSeq) || !isSeq(lastSeq)) return expected;
    if (firstSeq < after || lastSeq < firstSeq) return expected;
    after = lastSeq + 2;
  }
  return undefined;
};

type Fields<T> = { readonly [Field in keyof T]-?: Check };

/** Counted from 0: seq, window, files. Counted from 1: versions and revisions. */
const FIELDS: { readonly [Name in EventName]: Fields<EventData[Name]> } = {
  'campaign.changed.v1': { campaign: name, version: integer(1), state: name },
  'batch.stored.v1': { vehicle: name, session: name, seq: integer(0, MAX_SEQ) },
  'window.ready.v1': {
    vehicle: name,
    session: name,
    window: integer(0, MAX_WINDOW),
    revision: integer(1),
  },
  'session.closed.v1': { vehicle: name, session: name, revision: integer(1) },
  'window.processed.v1': {
    vehicle: name,
    session: name,
    window: integer(0, MAX_WINDOW),
    revision: integer(1),
    versions: name,
  },
  'dataset.exported.v1': {
    vehicle: name,
    session: name,
    window: orNull(integer(0, MAX_WINDOW)),
    revision: integer(1),
    files: integer(0),
    batches: seqRanges,
  },
};

const NAMES: ReadonlyMap<string, EventName> = new Map(
  (Object.keys(FIELDS) as EventName[]).map((event) => [eventType(event), event]),
);

/** The catalogue's name of a full CloudEvents type, or undefined for a type that is not ours. */
export const eventName = (type: string): EventName | undefined => NAMES.get(type);

/**
 * The checked data of one of our events; fields the version does not know are dropped. Throws
 * EVENT_INVALID naming the field, for another type, or for data that is no JSON object.
 */
export function parseEventData<N extends EventName>(
  event: N,
  cloudEvent: CloudEvent,
): EventData[N] {
  if (cloudEvent.type !== eventType(event)) {
    throw invalid(`the type is ${cloudEvent.type}, expected ${eventType(event)}`);
  }
  if (!isJson(cloudEvent.datacontenttype ?? '')) {
    throw invalid(`datacontenttype = "${cloudEvent.datacontenttype ?? ''}", expected JSON`);
  }
  const data = parseJsonObject(cloudEvent.data);
  const checked: Record<string, unknown> = {};
  for (const [field, check] of Object.entries<Check>(FIELDS[event])) {
    const value = data[field];
    const expected = check(value);
    if (expected !== undefined) {
      throw invalid(`data.${field} = ${shown(value)} in ${event}; expected ${expected}`);
    }
    checked[field] = value;
  }
  return checked as unknown as EventData[N];
}

/** Enough to find it: what was expected must still have room behind it. */
const MAX_SHOWN = 80;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function parseJsonObject(data: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data));
  } catch (error) {
    throw invalid('the data is not JSON in UTF-8', error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('the data must be a JSON object');
  }
  return value as Record<string, unknown>;
}
