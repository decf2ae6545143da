import { constants, gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TachographError } from '#kernel/core/errors.ts';
import { randomStream } from '#kernel/core/random.ts';
import { BLOCK_PREFIX_BYTES, MAX_BODY_BYTES } from './block-format.ts';
import { ByteWriter } from './byte-writer.ts';
import { decodeTables } from './decode-tables.ts';
import { encodeTables } from './encode-tables.ts';
import type { StoredTable } from './stored-table.ts';
import { arbitraryTables } from './testing/arbitrary-tables.ts';

const TABLE: StoredTable = {
  bus: 'can0',
  message: { name: 'SPEED', id: 0xb4, extended: false },
  timeUs: Float64Array.of(10, 20, 20, 40),
  columns: [
    {
      name: 'SPEED',
      unit: 'km/h',
      factor: 0.01,
      offset: 0,
      valueType: 'unsigned',
      bitLength: 16,
      values: Float64Array.of(5, 0, 7, 300),
      present: Uint8Array.of(1, 0, 1, 1),
    },
  ],
};

/** A block around any body, as if `encodeTables` had written it. */
function blockOf(body: Uint8Array, statedLength = body.length): Uint8Array {
  const block = Buffer.from(encodeTables([], 'gzip'));
  const prefix = block.subarray(0, BLOCK_PREFIX_BYTES);
  prefix.writeUInt32LE(statedLength, BLOCK_PREFIX_BYTES - 4);
  return Buffer.concat([prefix, gzipSync(body)]);
}

const bodyOf = (tables: readonly StoredTable[]): Uint8Array =>
  gunzipSync(encodeTables(tables, 'gzip').subarray(BLOCK_PREFIX_BYTES));

/** The result, or the code of the expected error; any other error is a bug and thrown. */
function outcome(block: Uint8Array): StoredTable[] | string {
  try {
    return decodeTables(block);
  } catch (error) {
    if (error instanceof TachographError) return error.code;
    throw error;
  }
}

/** A body of six sections, the given ones filled by hand. */
function handMade(write: (sections: Record<string, ByteWriter>) => void): Uint8Array {
  const names = ['texts', 'numbers', 'head', 'times', 'presence', 'values'];
  const sections = Object.fromEntries(names.map((name) => [name, new ByteWriter()]));
  write(sections);
  const body = new ByteWriter();
  for (const section of Object.values(sections)) {
    body.varint(section.length);
    body.bytes(section.view());
  }
  return body.view();
}

/** One bus, one table, `columns` columns; the rest is the caller's. */
function oneTable(sections: Record<string, ByteWriter>, columns: number): void {
  const { texts, numbers, head } = sections as Record<'texts' | 'numbers' | 'head', ByteWriter>;
  texts.text('can0');
  numbers.float64(1);
  for (const value of [1, 0, 1, 0]) head.varint(value);
  head.text('M');
  head.varint(0xb4 * 2);
  head.varint(columns);
}

function column(head: ByteWriter, presence: number, form: number): void {
  head.text('S');
  for (const place of [0, 0, 0]) head.varint(place);
  for (const byte of [0, 8, presence, form]) head.byte(byte);
}

test('decodeTables of a random or cut block gives a table error and never another', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(outcome(bytes)).toBe('BLOCK_CORRUPT');
      expect(['object', 'string']).toContain(typeof outcome(blockOf(bytes)));
    }),
    { numRuns: 300 },
  );
  const block = encodeTables([TABLE], 'gzip');
  for (let length = 0; length < block.length; length++) {
    expect(outcome(block.subarray(0, length))).toBe('BLOCK_CORRUPT');
  }
});

test('decodeTables of a body with mutated bytes gives tables or a table error', () => {
  const random = randomStream(1, 'mutations');
  const outcomes = new Map<string, number>();
  const count = (key: string): void => void outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  for (const tables of fc.sample(arbitraryTables, { numRuns: 200, seed: 7 })) {
    const body = bodyOf(tables);
    for (let round = 0; round < 25; round++) {
      const mutated = body.slice();
      for (let flips = random.below(3); flips >= 0; flips--) {
        mutated[random.below(body.length)] = random.below(256);
      }
      count(typeof outcome(blockOf(mutated)));
    }
  }
  // Both happen: a changed value is still a table, a changed length is not.
  expect(outcomes.get('object')).toBeGreaterThan(50);
  expect(outcomes.get('string')).toBeGreaterThan(100);
});

test('decodeTables finds every flipped bit of a compressed body', () => {
  for (const codec of ['gzip', 'zstd'] as const) {
    const block = encodeTables([TABLE], codec);
    // The compressors' checksums cover the data; bytes of a header may change without meaning.
    for (let at = BLOCK_PREFIX_BYTES + 10; at < block.length; at++) {
      const flipped = block.slice();
      flipped[at] = (flipped[at] as number) ^ 1;
      const result = outcome(flipped);
      if (typeof result !== 'string') expect(result).toEqual([TABLE]);
    }
  }
});

test('decodeTables refuses another magic, version, compressor or stated length', () => {
  const block = encodeTables([TABLE], 'gzip');
  for (const [at, value] of [
    [0, 0x55],
    [3, 2],
    [4, 2],
    [5, (block[5] as number) + 1],
    [5, (block[5] as number) - 1],
  ] as const) {
    const changed = block.slice();
    changed[at] = value;
    expect(outcome(changed)).toBe('BLOCK_CORRUPT');
  }
});

test('decodeTables stops inflating a bomb at the stated length, and refuses an absurd one', () => {
  const bomb = new Uint8Array(50_000_000);
  expect(() => decodeTables(blockOf(bomb, 100))).toThrow(/longer than stated/);
  expect(() => decodeTables(blockOf(new Uint8Array(1), MAX_BODY_BYTES + 1))).toThrow(
    /a body of 67108865 bytes/,
  );
  const zstd = Buffer.from(blockOf(new Uint8Array(1), 100)).subarray(0, BLOCK_PREFIX_BYTES);
  zstd[4] = 1;
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  const block = Buffer.concat([zstd, zstdCompressSync(bomb, { params })]);
  expect(() => decodeTables(block)).toThrow(/longer than stated/);
});

test('decodeTables refuses counts that the bytes cannot hold, before allocating', () => {
  const rows = handMade((sections) => {
    oneTable(sections, 0);
    sections['times']?.varint(2 ** 40);
  });
  expect(() => decodeTables(blockOf(rows))).toThrow(/1099511627776 times in 0 bytes/);
  const columns = handMade((sections) => {
    oneTable(sections, 2 ** 40);
    for (const value of [0, 0]) sections['times']?.varint(value);
  });
  expect(() => decodeTables(blockOf(columns))).toThrow(/a count of 1099511627776 in 0 bytes/);
  const tables = handMade(({ head }) => {
    head?.varint(0);
    head?.varint(2 ** 40);
  });
  expect(() => decodeTables(blockOf(tables))).toThrow(/a count of 1099511627776/);
});

test('decodeTables refuses more cells than its limit, though a constant costs no bytes', () => {
  const rows = 100_000;
  const body = handMade((sections) => {
    const { head, times } = sections as Record<'head' | 'times', ByteWriter>;
    // 84 columns and the time column of 100,000 rows: 8,500,000 cells.
    oneTable(sections, 84);
    times.varint(1);
    times.varint(5);
    times.varint(rows);
    for (let row = 0; row < rows; row++) times.zigzag(0);
    for (let index = 0; index < 84; index++) {
      column(head, 0, 0);
      head.zigzag(1);
    }
  });
  expect(() => decodeTables(blockOf(body))).toThrow(/more than 8388608 cells/);
});

test('decodeTables refuses empty presence runs, which would never end', () => {
  const body = handMade((sections) => {
    const { head, times, presence } = sections as Record<'head' | 'times' | 'presence', ByteWriter>;
    oneTable(sections, 1);
    for (const value of [1, 5, 2, 0, 0]) times.varint(value);
    column(head, 2, 0);
    for (const length of [1, 0, 0, 0]) presence.varint(length);
  });
  expect(() => decodeTables(blockOf(body))).toThrow(/an empty run of presence/);
});

test('decodeTables refuses runs beyond the rows and bytes that no table uses', () => {
  const runs = (length: number) =>
    handMade((sections) => {
      const { head, times, values } = sections as Record<'head' | 'times' | 'values', ByteWriter>;
      oneTable(sections, 1);
      for (const value of [1, 5, 2, 0, 0]) times.varint(value);
      column(head, 0, 2);
      values.varint(length - 1);
      values.zigzag(9);
    });
  expect(() => decodeTables(blockOf(runs(3)))).toThrow(/runs exceed the rows/);
  const [table] = decodeTables(blockOf(runs(2)));
  expect(table?.columns[0]?.values).toEqual(Float64Array.of(9, 9));
  const spare = handMade((sections) => {
    oneTable(sections, 0);
    for (const value of [0, 0, 0]) sections['times']?.varint(value);
  });
  expect(() => decodeTables(blockOf(spare))).toThrow(/bytes that no table uses/);
});
