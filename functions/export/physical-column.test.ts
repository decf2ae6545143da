import fc from 'fast-check';
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
  [{ bitLength: 8, factor: 2 ** 60 }, 'double', 'up to 255 * 2^60'],
  [{ bitLength: 3, factor: 2 ** 60 }, 'int64', 'up to 7 * 2^60'],
  [{ bitLength: 64, offset: -(2 ** 63) }, 'int64', '-2^63 to 2^63 - 1'],
  [{ bitLength: 64, offset: -(2 ** 62) }, 'double', '-2^62 to 2^64 - 2^62 - 1'],
  [{ bitLength: 64, valueType: 'signed', offset: 2 ** 63 }, 'uint64', '0 to 2^64 - 1'],
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

test('physicalColumn + an offset of -2^63 gives the exact integers', () => {
  const stored = columnOf('X', [2n ** 64n - 1n, 2n ** 63n + 1n, 0n], {
    bitLength: 64,
    offset: -9_223_372_036_854_775_808,
  });
  expect(physicalColumn(stored, 'X', 'physical').values).toEqual(
    BigInt64Array.of(2n ** 63n - 1n, 1n, -(2n ** 63n)),
  );
});

test('physicalColumn + values below 2^53 by way of products above it are exact', () => {
  // 3 * (2^52 - 1) = 1.5 * 2^53 - 3 is odd and no double; less 2^53 - 1 it is 2^52 - 2.
  const stored = columnOf('X', [2 ** 52 - 1], { bitLength: 52, factor: 3, offset: 1 - 2 ** 53 });
  const { type, values } = physicalColumn(stored, 'X', 'physical');
  expect([type, ...values]).toEqual(['int64', 2n ** 52n - 2n]);
});

test('physicalColumn + any integer definition gives what integer arithmetic gives', () => {
  const scale = fc.oneof(
    fc.integer({ min: -1000, max: 1000 }),
    fc.maxSafeInteger(),
    fc.constantFrom(2 ** 60, -(2 ** 63), 2 ** 63),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 64 }),
      fc.boolean(),
      scale.filter((factor) => factor !== 0),
      scale,
      fc.bigInt(0n, 2n ** 64n - 1n),
      (bitLength, isSigned, factor, offset, bits) => {
        const raw = isSigned ? BigInt.asIntN(bitLength, bits) : BigInt.asUintN(bitLength, bits);
        const valueType = isSigned ? ('signed' as const) : ('unsigned' as const);
        const stored = columnOf('X', [raw], { bitLength, valueType, factor, offset });
        const { type, values } = physicalColumn(stored, 'X', 'physical');
        if (type === 'double') return;
        expect(BigInt(values[0] ?? 0)).toBe(raw * BigInt(factor) + BigInt(offset));
      },
    ),
  );
});
