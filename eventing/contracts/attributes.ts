import { TachographError } from '#kernel/core/errors.ts';

/**
 * The type system of CloudEvents 1.0 context attributes, as far as strings carry it.
 *
 * Source: CloudEvents 1.0.2, sections 2 and 3 (names, strings, required attributes).
 */
export const SPEC_VERSION = '1.0';

/** Attributes with a member of their own in `CloudEvent`, and names no extension may take. */
export const CORE_ATTRIBUTES: ReadonlySet<string> = new Set([
  'specversion',
  'id',
  'source',
  'type',
  'subject',
  'time',
  'datacontenttype',
  'dataschema',
]);

const NAME = /^[a-z0-9]{1,64}$/;
/**
 * Unicode the spec forbids in a string: C0 and C1 controls, DEL, lone surrogates (with the `u` flag
 * `\p{Cs}` matches only unpaired ones) and noncharacters (U+FDD0 to U+FDEF, and U+nFFFE, U+nFFFF).
 */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;
/** The same in one cheap test for the usual case: printable ASCII holds nothing forbidden. */
const PLAIN = /^[\x20-\x7E]*$/;
const DATE_TIME =
  /^\d{4}-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const URI_REFERENCE = /^[^\s"<>\\^`{|}]+$/;
const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s"<>\\^`{|}]+$/;

export const invalid = (detail: string, cause?: unknown): TachographError =>
  new TachographError('EVENT_INVALID', { detail }, cause === undefined ? undefined : { cause });

/** Throws EVENT_INVALID for a name that is no extension's: `[a-z0-9]{1,64}`, not a core attribute. */
export function checkExtensionName(name: string): void {
  if (!NAME.test(name)) {
    throw invalid(`the attribute name "${name}" must be 1 to 64 of a to z and 0 to 9`);
  }
  if (name === 'data' || CORE_ATTRIBUTES.has(name)) {
    throw invalid(`"${name}" is reserved and cannot be an extension attribute`);
  }
}

/** Throws EVENT_INVALID for a value that the attribute cannot have; empty ones are never valid. */
export function checkAttribute(name: string, value: string): void {
  if (value === '')
    throw invalid(`the attribute "${name}" must not be empty; leave it out instead`);
  if (!PLAIN.test(value) && FORBIDDEN.test(value)) {
    throw invalid(`the attribute "${name}" holds a control character or invalid Unicode`);
  }
  if (name === 'time' && !isDateTime(value)) {
    throw invalid(`time = "${value}" is no RFC 3339 time such as 2026-11-30T22:43:01.5Z`);
  }
  if (name === 'source' && !URI_REFERENCE.test(value)) {
    throw invalid(`source = "${value}" is no URI reference such as /tachograph/export`);
  }
  if (name === 'dataschema' && !ABSOLUTE_URI.test(value)) {
    throw invalid(`dataschema = "${value}" is no absolute URI`);
  }
  if (name === 'specversion' && value !== SPEC_VERSION) {
    throw invalid(`specversion = "${value}" is not supported; send ${SPEC_VERSION}`);
  }
}

/** 2026-02-30 has the form of a date and is none: the day must survive a round trip. */
function isDateTime(value: string): boolean {
  const match = DATE_TIME.exec(value);
  if (match === null) return false;
  const [month, day] = [Number(match[1]), Number(match[2])];
  const date = new Date(Date.UTC(Number(value.slice(0, 4)), month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** The media type of a content type without parameters, in lower case. */
export const mediaType = (contentType: string): string =>
  (contentType.split(';', 1)[0] as string).trim().toLowerCase();

/** Whether a content type declares JSON: `application/json`, `text/json`, or any `+json`. */
export function isJson(contentType: string): boolean {
  const type = mediaType(contentType);
  return type.endsWith('/json') || type.endsWith('+json');
}
