import { expect, test } from 'vitest';
import { physicalColumn, type PhysicalType } from './physical-column.ts';
import { columnOf } from './testing/tables.ts';

type Row = [Parameters<typeof columnOf>[2], PhysicalType, string];

// Each row: definition, type, and why.
test.each<Row>([
  [{ bitLength: 8, factor: 1, offset: -40 }, 'int32', 'small'],
  [{ bitLength: 31 }, 'int32', 'up to 2^31 - 1'],
  [{ bitLength: 32 }, 'int64', 'up to 2^32 - 1'],
  [{ bitLength: 32, valueType: 'signed' }, 'int32', '-2^31 to 2^31 - 1'],
  [{ bitLength: 32, valueType: 'signed', offset: -1 }, 'int64', 'one below -2^31'],
  [{ bitLength: 32, valueType: 'signed', factor: -1 }, 'int64', '2^31, one above'],
  [{ bitLength: 64, valueType: 'signed' }, 'int64', 'as it is'],
  [{ bitLength: 63 }, 'int64', 'up to 2^63 - 1'],
  [{ bitLength: 64 }, 'uint64', 'up to 2^64 - 1'],
  [{ bitLength: 64, factor: 2 }, 'double', 'up to 2^65'],
  [{ bitLength: 64, offset: -1 }, 'double', 'from -1 to 2^64 - 2: neither signed nor unsigned'],
  [{ bitLength: 8, factor: 0.5 }, 'double', 'not whole'],
  [{ bitLength: 8, offset: 0.5 }, 'double', 'not whole'],
  [{ bitLength: 8, factor: 2 ** 60 }, 'double', 'a factor no double holds exactly'],
  [{ bitLength: 32, valueType: 'float32' }, 'double', 'a float'],
])('physicalColumn + %j is %s: %s', (definition, type) => {
  const stored = columnOf('X', [0], definition);
  expect(physicalColumn(stored, 'X', 'physical').type).toBe(type);
});

test('physicalColumn + mode raw takes the type of the integers alone', () => {
  const stored = columnOf('X', [3, null], { bitLength: 16, factor: 0.01, offset: -67.67 });
  const raw = physicalColumn(stored, 'X', 'raw');
  expect([raw.type, ...raw.values]).toEqual(['int32', 3, 0]);
  expect(physicalColumn(stored, 'X', 'physical').values[0]).toBe(3 * 0.01 - 67.67);
});

test('physicalColumn + integers beyond 2^53 are exact', () => {
  const stored = columnOf('X', [2n ** 60n + 1n, null], { bitLength: 61, factor: -2, offset: 3 });
  const column = physicalColumn(stored, 'X', 'physical');
  expect(column.values).toEqual(BigInt64Array.of(-(2n ** 61n) + 1n, 0n));
  const wide = columnOf('X', [2 ** 52 + 1], { bitLength: 53, factor: 1_000, offset: 1 });
  expect(physicalColumn(wide, 'X', 'physical').values).toEqual(
    BigInt64Array.of((2n ** 52n + 1n) * 1_000n + 1n),
  );
});
