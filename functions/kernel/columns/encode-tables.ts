import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { must } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import {
  BLOCK_CODECS,
  BLOCK_MAGIC,
  type BlockCodec,
  MAX_BODY_BYTES,
  MAX_CELLS,
  MAX_TEXT_BYTES,
  VALUE_ARRAYS,
  VALUE_TYPES,
} from './block-format.ts';
import { ByteWriter } from './byte-writer.ts';
import type { MessageTable } from './columns.ts';
import { encodePresence } from './presence-codec.ts';
import type { StoredTable } from './stored-table.ts';
import { encodeAxis, encodeTimes, timeAxis } from './time-codec.ts';
import { arrayKind, encodeValues } from './value-codec.ts';

/** Equal tables give equal bytes. Throws BLOCK_TOO_LARGE beyond MAX_CELLS or MAX_BODY_BYTES. */
export function encodeTables(
  tables: readonly (MessageTable | StoredTable)[],
  codec: BlockCodec,
): Uint8Array {
  const stored = tables.map(storedTable);
  limit(
    'cells',
    stored.reduce((sum, table) => sum + cellCount(table), 0),
    MAX_CELLS,
  );
  const body = encodeBody(stored);
  limit('bytes', body.length, MAX_BODY_BYTES);
  const block = new ByteWriter();
  block.bytes(BLOCK_MAGIC);
  block.byte(BLOCK_CODECS.indexOf(codec));
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, body.length, true);
  block.bytes(new Uint8Array(length.buffer));
  block.bytes(compress(body, codec));
  return block.view().slice();
}

function limit(what: string, value: number, max: number): void {
  if (value > max) throw new TachographError('BLOCK_TOO_LARGE', { what, value, max });
}

function writeText(writer: ByteWriter, text: string): void {
  limit('bytes in a name', new TextEncoder().encode(text).length, MAX_TEXT_BYTES);
  writer.text(text);
}

const cellCount = (table: StoredTable): number => table.timeUs.length * (table.columns.length + 1);

/** A freshly decoded table takes its names from the DBC; a stored one has them. */
function storedTable(table: MessageTable | StoredTable): StoredTable {
  return {
    bus: table.bus,
    message: table.message,
    timeUs: table.timeUs,
    columns: table.columns.map((column) =>
      'signal' in column
        ? { ...column.signal, values: column.values, present: column.present }
        : column,
    ),
  };
}

function compress(body: Uint8Array, codec: BlockCodec): Uint8Array {
  if (codec === 'zstd') {
    return zstdCompressSync(body, {
      params: {
        [constants.ZSTD_c_compressionLevel]: 9,
        [constants.ZSTD_c_checksumFlag]: 1,
      },
    });
  }
  const zipped = gzipSync(body, { level: 9 });
  // Byte 9 names the operating system; "unknown" keeps blocks equal across platforms.
  zipped[9] = 255;
  return zipped;
}

/** Values that repeat (units, factors) are written once and named by their place. */
class Pool<T extends string | number> {
  readonly #places = new Map<string, number>();
  readonly #write: (value: T) => void;

  constructor(write: (value: T) => void) {
    this.#write = write;
  }

  place(value: T): number {
    // As a key of a Map -0 would be 0.
    const key = Object.is(value, -0) ? '-0' : String(value);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.#places.size;
    this.#places.set(key, place);
    this.#write(value);
    return place;
  }
}

function encodeBody(tables: readonly StoredTable[]): Uint8Array {
  const [texts, numbers, head, times, presence, values] = Array.from(
    { length: 6 },
    () => new ByteWriter(),
  ) as [ByteWriter, ByteWriter, ByteWriter, ByteWriter, ByteWriter, ByteWriter];
  const text = new Pool<string>((value) => writeText(texts, value));
  const number = new Pool<number>((value) => numbers.float64(value));
  const buses = [...new Set(tables.map((table) => table.bus))];
  const axes = new Map(
    buses.map((bus) => [
      bus,
      timeAxis(tables.filter((table) => table.bus === bus).map((table) => table.timeUs)),
    ]),
  );
  head.varint(buses.length);
  for (const [bus, axis] of axes) {
    head.varint(text.place(bus));
    encodeAxis(times, axis);
  }
  head.varint(tables.length);
  for (const table of tables) {
    head.varint(buses.indexOf(table.bus));
    writeText(head, table.message.name);
    head.varint(table.message.id * 2 + Number(table.message.extended));
    encodeTimes(times, table.timeUs, must(axes.get(table.bus), 'axis of the bus'));
    head.varint(table.columns.length);
    for (const column of table.columns) {
      writeText(head, column.name);
      head.varint(text.place(column.unit));
      head.varint(number.place(column.factor));
      head.varint(number.place(column.offset));
      head.byte(
        VALUE_TYPES.indexOf(column.valueType) * 4 + VALUE_ARRAYS.indexOf(arrayKind(column.values)),
      );
      head.byte(column.bitLength);
      const count = encodePresence(head, presence, column.present);
      encodeValues(head, values, column, column.present, count);
    }
  }
  const body = new ByteWriter();
  for (const section of [texts, numbers, head, times, presence, values]) {
    body.varint(section.length);
    body.bytes(section.view());
  }
  return body.view();
}
