import { encode, rfc8949EncodeOptions } from 'cborg';
import { must } from '../core/assert.ts';
import { TachographError } from '../core/errors.ts';
import { batchFromDocument } from './batch-from-document.ts';
import type { Batch, FrameGroup } from './batch.ts';
import { BATCH_SCHEMA } from './batch.ts';
import type { BodyFormat } from './strict-decode.ts';
import { decodeStrict } from './strict-decode.ts';
import { transpose } from './transpose.ts';

const CONTENT_TYPES: Readonly<Record<BodyFormat, string>> = {
  cbor: 'application/cbor',
  json: 'application/json',
};

/**
 * The wire form (docs/batch-format.md), uncompressed. The same batch always gives the same bytes.
 */
export function encodeBatch(batch: Batch, format: BodyFormat): Uint8Array {
  const { groups, counts, ...head } = batch;
  const document = {
    schema: BATCH_SCHEMA,
    ...head,
    counts,
    groups: groups.map(format === 'cbor' ? cborGroup(batch.fromUs) : jsonGroup(batch.fromUs)),
  };
  if (format === 'json') return new TextEncoder().encode(JSON.stringify(document));
  return encode(document, rfc8949EncodeOptions);
}

/**
 * The batch in a body without content encoding. Throws BODY_EMPTY, BODY_TYPE_UNKNOWN,
 * BODY_MALFORMED, BATCH_SCHEMA_UNKNOWN and FIELD_INVALID, which names the field, the value and what
 * is allowed.
 */
export function decodeBatch(body: Uint8Array, contentType: string): Batch {
  const format = bodyFormat(contentType);
  if (body.length === 0) {
    throw new TachographError('BODY_EMPTY', { expected: `a batch as ${CONTENT_TYPES[format]}` });
  }
  return batchFromDocument(decodeStrict(body, format), format);
}

/** The format a Content-Type names, its parameters aside. Throws BODY_TYPE_UNKNOWN. */
export function bodyFormat(contentType: string): BodyFormat {
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType === CONTENT_TYPES.cbor) return 'cbor';
  if (mediaType === CONTENT_TYPES.json) return 'json';
  throw new TachographError('BODY_TYPE_UNKNOWN', { value: contentType });
}

const groupHead = (group: FrameGroup, fromUs: number) => ({
  bus: group.bus,
  id: group.id,
  extended: group.extended,
  kind: group.kind,
  dtUs: deltas(group.timeUs, fromUs),
});

const cborGroup = (fromUs: number) => (group: FrameGroup) => {
  const head = groupHead(group, fromUs);
  if (group.kind === 'remote' || group.kind === 'error') return head;
  const first = must(group.lengths[0], 'length of a group’s first frame');
  const lengths = group.lengths.every((length) => length === first) ? first : group.lengths;
  return { ...head, lengths, payload: transpose(group.payload, group.lengths) };
};

const jsonGroup = (fromUs: number) => (group: FrameGroup) => {
  const head = groupHead(group, fromUs);
  if (group.kind === 'remote' || group.kind === 'error') return head;
  return { ...head, payloadHex: framesAsHex(group) };
};

/** The first relative to the batch's start, each other one to the frame before. */
function deltas(timeUs: Float64Array, fromUs: number): number[] {
  let beforeUs = fromUs;
  return Array.from(timeUs, (time) => {
    const delta = time - beforeUs;
    beforeUs = time;
    return delta;
  });
}

function framesAsHex(group: FrameGroup): string[] {
  const hex = Buffer.from(group.payload).toString('hex');
  let start = 0;
  return Array.from(group.lengths, (length) => {
    const end = start + 2 * length;
    const frame = hex.slice(start, end);
    start = end;
    return frame;
  });
}
