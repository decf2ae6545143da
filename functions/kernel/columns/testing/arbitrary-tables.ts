import fc from 'fast-check';
import type { RawValues } from '#kernel/columns/columns.ts';
import type { StoredColumn, StoredTable } from '#kernel/columns/stored-table.ts';

/** Random tables for property tests: every type of value, presence pattern and shape of a curve. */

type Kind = Pick<StoredColumn, 'valueType' | 'bitLength'>;

const kind: fc.Arbitrary<Kind> = fc.oneof(
  fc.record({
    valueType: fc.constantFrom('unsigned' as const, 'signed' as const),
    bitLength: fc.integer({ min: 1, max: 64 }),
  }),
  fc.constant<Kind>({ valueType: 'float32', bitLength: 32 }),
  fc.constant<Kind>({ valueType: 'float64', bitLength: 64 }),
);

/** One raw value of the kind: a bigint for integers of more than 53 bits. */
function rawValue({ valueType, bitLength }: Kind): fc.Arbitrary<number | bigint> {
  if (valueType === 'float64') return fc.double();
  if (valueType === 'float32') return fc.float();
  const span = 1n << BigInt(bitLength);
  const min = valueType === 'signed' ? -span / 2n : 0n;
  const exact = fc.bigInt({ min, max: min + span - 1n });
  return bitLength > 53 ? exact : exact.map(Number);
}

/** Noise, few levels, or nothing but one value. */
function curve(column: Kind, rows: number): fc.Arbitrary<(number | bigint)[]> {
  const value = rawValue(column);
  const exactly = { minLength: rows, maxLength: rows };
  return fc.oneof(
    fc.array(value, exactly),
    fc
      .array(value, { minLength: 1, maxLength: 3 })
      .chain((levels) => fc.array(fc.constantFrom(...levels), exactly)),
    value.map((level) => Array.from({ length: rows }, () => level)),
  );
}

function presence(rows: number): fc.Arbitrary<number[]> {
  return fc.oneof(
    fc.constant(Array.from({ length: rows }, () => 1)),
    fc.constant(Array.from({ length: rows }, () => 0)),
    fc.array(fc.constantFrom(0, 1), { minLength: rows, maxLength: rows }),
  );
}

function rawArray({ valueType, bitLength }: Kind, values: (number | bigint)[]): RawValues {
  if (valueType === 'float32' || valueType === 'float64' || bitLength <= 53) {
    return Float64Array.from(values, Number);
  }
  return valueType === 'signed'
    ? BigInt64Array.from(values, BigInt)
    : BigUint64Array.from(values, BigInt);
}

function column(rows: number): fc.Arbitrary<StoredColumn> {
  return kind.chain((shape) =>
    fc
      .record({
        name: fc.string({ maxLength: 8 }),
        unit: fc.constantFrom('', 'km/h', '°'),
        factor: fc.double({ noNaN: true }),
        offset: fc.constantFrom(0, -40, 0.1),
        values: curve(shape, rows),
        present: presence(rows),
      })
      .map(({ values, present, ...names }) => ({
        ...names,
        ...shape,
        values: rawArray(
          shape,
          values.map((value, row) => (present[row] === 1 ? value : 0)),
        ),
        present: Uint8Array.from(present),
      })),
  );
}

/** Ascending times, some of them equal. */
const times: fc.Arbitrary<Float64Array> = fc
  .array(fc.integer({ min: 0, max: 50_000 }), { maxLength: 40 })
  .map((steps) => {
    let timeUs = 0;
    return Float64Array.from(steps, (step) => (timeUs += step % 3 === 0 ? 0 : step));
  });

const table: fc.Arbitrary<StoredTable> = times.chain((timeUs) =>
  fc.record({
    bus: fc.constantFrom('can0', 'can1'),
    message: fc.record({
      name: fc.string({ maxLength: 8 }),
      id: fc.integer({ min: 0, max: 0x1fffffff }),
      extended: fc.boolean(),
    }),
    timeUs: fc.constant(timeUs),
    columns: fc.array(column(timeUs.length), { maxLength: 4 }),
  }),
);

export const arbitraryTables: fc.Arbitrary<StoredTable[]> = fc.array(table, { maxLength: 4 });
