import { TachographError } from '#kernel/core/errors.ts';
import {
  checkAttribute,
  checkExtensionName,
  CORE_ATTRIBUTES,
  invalid,
  isJson,
  mediaType,
  SPEC_VERSION,
} from './attributes.ts';
import type { CloudEvent } from './cloud-event.ts';
import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts';

/**
 * CloudEvents 1.0 over HTTP, binary and structured mode, by a thin mapping of our own: the data stays
 * opaque bytes from the ingress to the stage that reads it (0.5 µs a relay; the SDK takes 45 µs).
 * Everything is validated on the way in; the `cloudevents` SDK is the oracle of the tests.
 */

/** Attributes and data together. An event names facts, it never carries a batch. */
export const MAX_EVENT_BYTES = 256 * 1024;

export const STRUCTURED_CONTENT_TYPE = 'application/cloudevents+json';

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

const NO_DATA = new Uint8Array();
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The event in an HTTP request or answer, in either mode. Throws EVENT_INVALID, or EVENT_TOO_LARGE
 * above `maxBytes`. Headers other than `ce-…` and `content-type` are ignored.
 */
export function eventFromHttp(
  headers: HttpHeaders,
  body: Uint8Array,
  maxBytes: number = MAX_EVENT_BYTES,
): CloudEvent {
  checkSize(body.length, maxBytes);
  const contentType = single('content-type', headers['content-type']);
  if (contentType !== undefined && mediaType(contentType).startsWith('application/cloudevents')) {
    return eventFromStructured(structuredText(contentType, body), maxBytes);
  }
  return eventFromBinary(headers, contentType, body, maxBytes);
}

/** Whether the headers claim to carry an event at all; an answer without is not one. */
export const hasEvent = (headers: HttpHeaders): boolean =>
  headers['ce-specversion'] !== undefined ||
  mediaType(String(headers['content-type'] ?? '')).startsWith('application/cloudevents');

function structuredText(contentType: string, body: Uint8Array): string {
  if (mediaType(contentType) !== STRUCTURED_CONTENT_TYPE) {
    throw invalid(
      `the content type ${contentType} is not supported; send single events, in binary mode or as ` +
        STRUCTURED_CONTENT_TYPE,
    );
  }
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw invalid(`the charset ${charset} is not supported; send UTF-8`);
  }
  return decodeUtf8(body, 'the structured event');
}

function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw invalid(`${what} is not UTF-8`, error);
  }
}

function single(header: string, value: string | string[] | undefined): string | undefined {
  if (!Array.isArray(value)) return value;
  if (value.length > 1) throw invalid(`the header ${header} occurs ${value.length} times`);
  return value[0];
}

function checkSize(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new TachographError('EVENT_TOO_LARGE', { bytes, maxBytes });
}

function eventFromBinary(
  headers: HttpHeaders,
  contentType: string | undefined,
  body: Uint8Array,
  maxBytes: number,
): CloudEvent {
  const attributes: Record<string, string> = Object.create(null) as Record<string, string>;
  let bytes = body.length;
  for (const key in headers) {
    const header = key.toLowerCase();
    if (!header.startsWith('ce-')) continue;
    const raw = single(header, headers[key]);
    if (raw === undefined) continue;
    const name = header.slice(3);
    if (name === 'datacontenttype') {
      throw invalid('the header ce-datacontenttype must not be sent; use content-type');
    }
    if (name in attributes) throw invalid(`the header ${header} occurs twice`);
    attributes[name] = decodeHeaderValue(header, raw);
    bytes += header.length + raw.length;
  }
  checkSize(bytes, maxBytes);
  if (contentType !== undefined) attributes['datacontenttype'] = contentType;
  return assemble(attributes, body, 'the header ce-');
}

/**
 * Some brokers write these with nothing in them where they have no context of their own (Knative's broker
 * on NATS, 1.22). An event is no less valid for that: they count as left out.
 */
const BLANKED = new Set(['traceparent', 'tracestate']);

/** The event of checked attributes. `where` prefixes a missing name: "the header ce-id is missing". */
function assemble(
  attributes: Readonly<Record<string, string>>,
  data: Uint8Array,
  where: string,
): CloudEvent {
  for (const name of ['specversion', 'id', 'source', 'type']) {
    if (attributes[name] === undefined) throw invalid(`${where}${name} is missing`);
  }
  const extensions: Record<string, string> = {};
  for (const name in attributes) {
    const value = attributes[name] as string;
    if (value === '' && BLANKED.has(name)) continue;
    checkAttribute(name, value);
    if (CORE_ATTRIBUTES.has(name)) continue;
    checkExtensionName(name);
    extensions[name] = value;
  }
  const { id, source, type, subject, time, datacontenttype, dataschema } = attributes;
  return {
    id: id as string,
    source: source as string,
    type: type as string,
    ...(subject === undefined ? {} : { subject }),
    ...(time === undefined ? {} : { time }),
    ...(datacontenttype === undefined ? {} : { datacontenttype }),
    ...(dataschema === undefined ? {} : { dataschema }),
    extensions,
    data,
  };
}

/** Headers and body of the binary mode. Throws EVENT_INVALID for attributes no event can have. */
export function eventToBinary(event: CloudEvent): {
  headers: Record<string, string>;
  body: Uint8Array;
} {
  const headers: Record<string, string> = { 'ce-specversion': SPEC_VERSION };
  forEachAttribute(event, (name, value) => {
    if (name === 'datacontenttype') headers['content-type'] = value;
    else headers[`ce-${name}`] = encodeHeaderValue(value);
  });
  return { headers, body: event.data };
}

/** Calls back for every attribute that is set, checked, in a fixed order. */
function forEachAttribute(event: CloudEvent, visit: (name: string, value: string) => void): void {
  const visitChecked = (name: string, value: string | undefined): void => {
    if (value === undefined) return;
    checkAttribute(name, value);
    visit(name, value);
  };
  visitChecked('id', event.id);
  visitChecked('source', event.source);
  visitChecked('type', event.type);
  visitChecked('subject', event.subject);
  visitChecked('time', event.time);
  visitChecked('datacontenttype', event.datacontenttype);
  visitChecked('dataschema', event.dataschema);
  for (const name in event.extensions) {
    checkExtensionName(name);
    visitChecked(name, event.extensions[name]);
  }
}

/**
 * The JSON event format. JSON data is embedded byte for byte, UTF-8 text as a string, anything else
 * as base64 (also JSON `null`, which the format cannot tell from no data).
 */
export function eventToStructured(event: CloudEvent): string {
  const members: string[] = [`"specversion":"${SPEC_VERSION}"`];
  forEachAttribute(event, (name, value) => members.push(`"${name}":${JSON.stringify(value)}`));
  if (event.data.length > 0) members.push(dataMember(event.datacontenttype, event.data));
  return `{${members.join(',')}}`;
}

function dataMember(contentType: string | undefined, data: Uint8Array): string {
  const base64 = (): string => `"data_base64":"${Buffer.from(data).toString('base64')}"`;
  if (contentType === undefined) return base64();
  let text: string;
  try {
    text = utf8.decode(data);
    if (isJson(contentType)) {
      return JSON.parse(text) === null ? base64() : `"data":${text}`;
    }
  } catch {
    // Not an error: data need not be what its type says, and bytes travel as base64.
    return base64();
  }
  return mediaType(contentType).startsWith('text/') ? `"data":${JSON.stringify(text)}` : base64();
}

/** Reads the JSON event format. Throws EVENT_INVALID, or EVENT_TOO_LARGE above `maxBytes`. */
export function eventFromStructured(text: string, maxBytes: number = MAX_EVENT_BYTES): CloudEvent {
  checkSize(Buffer.byteLength(text), maxBytes);
  const members = parseObject(text);
  const attributes: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(members)) {
    if (value === null || name === 'data' || name === 'data_base64') continue;
    attributes[name] = attributeText(name, value);
  }
  const { data, data_base64: base64 } = members;
  const hasData = data !== undefined && data !== null;
  if (hasData && base64 !== undefined && base64 !== null) {
    throw invalid('"data" and "data_base64" exclude each other');
  }
  // An absent type means JSON in this format; the binary mode must then say so.
  if (hasData) attributes['datacontenttype'] ??= 'application/json';
  const bytes = hasData
    ? dataBytes(attributes['datacontenttype'] as string, data)
    : base64Bytes(base64);
  return assemble(attributes, bytes, 'the attribute ');
}

/**
 * Numbers are kept as they are written: 2^53 + 1 in somebody's data must not become 2^53 here.
 * (The reviver's `context.source` and `JSON.rawJSON` are ES2026 and in Node 22 and later.)
 */
const keepNumbers = (_: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(context.source)
    : value;

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text, keepNumbers);
  } catch (error) {
    throw invalid(`the structured event is not JSON: ${(error as Error).message}`, error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('the structured event must be one JSON object');
  }
  return value as Record<string, unknown>;
}

function attributeText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (CORE_ATTRIBUTES.has(name)) throw invalid(`the attribute "${name}" must be a string`);
  if (typeof value === 'boolean') return String(value);
  // The format's integers have 32 bits.
  if (typeof value === 'number' && (value | 0) === value) return String(value);
  throw invalid(`the attribute "${name}" must be a string, a boolean or a 32-bit integer`);
}

function dataBytes(contentType: string, data: unknown): Uint8Array {
  if (isJson(contentType)) return Buffer.from(JSON.stringify(data));
  if (typeof data === 'string') return Buffer.from(data);
  throw invalid(`"data" of type ${contentType} must be a string; use data_base64 for bytes`);
}

function base64Bytes(base64: unknown): Uint8Array {
  if (base64 === undefined || base64 === null) return NO_DATA;
  if (typeof base64 !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw invalid('"data_base64" must be a string of base64');
  }
  return Buffer.from(base64, 'base64');
}
