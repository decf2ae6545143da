import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { must } from '#kernel/core/assert.ts';
import {
  BLOCK_CODECS,
  BLOCK_MAGIC,
  BLOCK_PREFIX_BYTES,
  type BlockCodec,
  MAX_BODY_BYTES,
  MAX_CELLS,
  MAX_TEXT_BYTES,
  VALUE_ARRAYS,
  VALUE_TYPES,
} from './block-format.ts';
import { ByteReader, corrupt } from './byte-reader.ts';
import { decodePresence } from './presence-codec.ts';
import type { StoredColumn, StoredTable } from './stored-table.ts';
import { decodeAxis, decodeTimes } from './time-codec.ts';
import { decodeValues } from './value-codec.ts';

/** Throws BLOCK_CORRUPT for whatever `encodeTables` cannot have written; time and memory are bounded. */
export function decodeTables(block: Uint8Array): StoredTable[] {
  if (block.length < BLOCK_PREFIX_BYTES) throw corrupt(`${block.length} bytes are no block`);
  if (BLOCK_MAGIC.some((byte, index) => byte !== block[index]))
    throw corrupt('not a block of samples');
  const codec = BLOCK_CODECS[must(block[BLOCK_MAGIC.length], 'codec byte')];
  if (codec === undefined) throw corrupt('unknown compressor');
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const length = view.getUint32(BLOCK_MAGIC.length + 1, true);
  if (length > MAX_BODY_BYTES) throw corrupt(`a body of ${length} bytes`);
  return decodeBody(decompress(block.subarray(BLOCK_PREFIX_BYTES), codec, length));
}

function decompress(bytes: Uint8Array, codec: BlockCodec, length: number): Uint8Array {
  const options = { maxOutputLength: Math.max(length, 1) };
  let body: Uint8Array;
  try {
    body = codec === 'zstd' ? zstdDecompressSync(bytes, options) : gunzipSync(bytes, options);
  } catch (cause) {
    throw corrupt(`the ${codec} stream is damaged or longer than stated`, cause);
  }
  if (body.length !== length) throw corrupt(`a body of ${body.length} bytes, ${length} stated`);
  return body;
}

interface Sections {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
  readonly head: ByteReader;
  readonly times: ByteReader;
  readonly presence: ByteReader;
  readonly values: ByteReader;
}

function readSections(body: Uint8Array): Sections {
  const reader = new ByteReader(body);
  const section = (): ByteReader => new ByteReader(reader.bytes(reader.varint()));
  const textPool = section();
  const numberPool = section();
  const sections = { head: section(), times: section(), presence: section(), values: section() };
  if (reader.remaining > 0) throw corrupt('bytes after the last section');
  const texts: string[] = [];
  while (textPool.remaining > 0) texts.push(textPool.text(MAX_TEXT_BYTES));
  const numbers: number[] = [];
  while (numberPool.remaining > 0) numbers.push(numberPool.float64());
  return { texts, numbers, ...sections };
}

function decodeBody(body: Uint8Array): StoredTable[] {
  const sections = readSections(body);
  const { head, times, presence, values, texts } = sections;
  const buses = Array.from({ length: bounded(head.varint(), head) }, () => ({
    name: pooled(texts, head),
    axis: decodeAxis(times),
  }));
  const tables: StoredTable[] = [];
  let cellsLeft = MAX_CELLS;
  for (let left = bounded(head.varint(), head); left > 0; left--) {
    const { name, axis } = pooled(buses, head);
    const message = readMessage(head);
    const timeUs = decodeTimes(times, axis);
    const columnCount = bounded(head.varint(), head);
    cellsLeft -= timeUs.length * (columnCount + 1);
    if (cellsLeft < 0) throw corrupt(`more than ${MAX_CELLS} cells`);
    const columns: StoredColumn[] = [];
    for (let index = 0; index < columnCount; index++) {
      columns.push(decodeColumn(sections, timeUs.length));
    }
    tables.push({ bus: name, message, timeUs, columns });
  }
  if ([head, times, presence, values].some((section) => section.remaining > 0)) {
    throw corrupt('bytes that no table uses');
  }
  return tables;
}

function readMessage(head: ByteReader): StoredTable['message'] {
  const name = head.text(MAX_TEXT_BYTES);
  const flagged = head.varint();
  return { name, id: Math.floor(flagged / 2), extended: flagged % 2 === 1 };
}

function decodeColumn(sections: Sections, rows: number): StoredColumn {
  const { texts, numbers, head } = sections;
  const name = head.text(MAX_TEXT_BYTES);
  const unit = pooled(texts, head);
  const factor = pooled(numbers, head);
  const offset = pooled(numbers, head);
  const kinds = head.byte();
  const valueType = VALUE_TYPES[kinds >> 2];
  const array = VALUE_ARRAYS[kinds & 3];
  if (valueType === undefined || array === undefined) throw corrupt('unknown type of values');
  const bitLength = head.byte();
  const present = new Uint8Array(rows);
  const count = decodePresence(head, sections.presence, present);
  const values = decodeValues(head, sections.values, { valueType, array }, present, count);
  return { name, unit, factor, offset, valueType, bitLength, values, present };
}

/** Each thing counted takes a byte of the head at least. */
function bounded(count: number, head: ByteReader): number {
  if (count > head.remaining) throw corrupt(`a count of ${count} in ${head.remaining} bytes`);
  return count;
}

function pooled<T>(pool: readonly T[], head: ByteReader): T {
  const place = head.varint();
  const value = pool[place];
  if (value === undefined) throw corrupt(`entry ${place} of ${pool.length}`);
  return value;
}
