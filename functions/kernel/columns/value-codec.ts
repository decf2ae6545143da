import { must, unreachable } from '#kernel/core/assert.ts';
import type { ValueType } from '#kernel/dbc/model.ts';
import { type ByteReader, corrupt } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import type { RawValues } from './columns.ts';
import { decodeFloats, encodeFloats } from './float-codec.ts';

/**
 * The values of one column, present rows only, as bytes that a general compressor shrinks well.
 *
 * CAN values are small integers, so integers stay integers: on the recorded drive this takes 0.28 bytes a
 * value, against 1.83 for scaled doubles after XOR. Which form suits depends on the signal: a speed moves
 * in small steps (delta), a gear stays for long (runs), a checksum is noise (planes). The encoder writes
 * all three and keeps the one whose bytes carry least information.
 */
const FORMS = ['constant', 'delta', 'runs', 'planes', 'wide', 'float', 'floatConstant'] as const;
type Form = (typeof FORMS)[number];

/** Differences of such integers fit a zigzag varint: 2 * (2^50 + 2^50) = 2^52. */
const NARROW_MAX = 2 ** 50;

export interface ValueShape {
  readonly valueType: ValueType;
  readonly array: 'float64' | 'bigint64' | 'biguint64';
}

const isFloat = (valueType: ValueType): boolean =>
  valueType === 'float32' || valueType === 'float64';

/** Values of the rows where `present` is 1. */
function presentValues(values: RawValues, present: Uint8Array, count: number): RawValues {
  if (count === values.length) return values;
  const dense = emptyValues(arrayKind(values), count);
  let next = 0;
  for (let row = 0; row < values.length; row++) {
    if (present[row] === 1) dense[next++] = must(values[row], 'value of a present row');
  }
  return dense;
}

export function arrayKind(values: RawValues): ValueShape['array'] {
  if (values instanceof BigInt64Array) return 'bigint64';
  return values instanceof BigUint64Array ? 'biguint64' : 'float64';
}

export function emptyValues(kind: ValueShape['array'], length: number): RawValues {
  if (kind === 'bigint64') return new BigInt64Array(length);
  return kind === 'biguint64' ? new BigUint64Array(length) : new Float64Array(length);
}

/** Writes the form and, for a constant, the value to `head`; everything else to `body`. */
export function encodeValues(
  head: ByteWriter,
  body: ByteWriter,
  column: { readonly valueType: ValueType; readonly values: RawValues },
  present: Uint8Array,
  count: number,
): void {
  if (count === 0) return;
  const values = presentValues(column.values, present, count);
  const form = (name: Form): void => head.byte(FORMS.indexOf(name));
  if (isFloat(column.valueType) && values instanceof Float64Array) {
    const first = must(values[0], 'first value');
    // Object.is: -0 is not 0 and NaN is NaN, as their bits are.
    if (values.every((value) => Object.is(value, first))) {
      form('floatConstant');
      head.float64(first);
    } else {
      form('float');
      encodeFloats(body, values, column.valueType);
    }
  } else if (!(values instanceof Float64Array) || !isNarrow(values)) {
    form('wide');
    encodeWide(body, values);
  } else if (values.every((value) => value === values[0])) {
    form('constant');
    head.zigzag(must(values[0], 'first value'));
  } else {
    const best = candidates(values).reduce((a, b) => (b.bits < a.bits ? b : a));
    form(best.form);
    body.bytes(best.bytes);
  }
}

export function decodeValues(
  head: ByteReader,
  body: ByteReader,
  shape: ValueShape,
  present: Uint8Array,
  count: number,
): RawValues {
  const dense = emptyValues(shape.array, count);
  if (count > 0) {
    const form = FORMS[head.byte()];
    if (form === undefined) throw corrupt('unknown form of values');
    if (form === 'wide') decodeWide(body, dense);
    else if (!(dense instanceof Float64Array)) throw corrupt(`64-bit integers in form ${form}`);
    else decodeDoubles(form, head, body, shape.valueType, dense);
  }
  if (count === present.length) return dense;
  const values = emptyValues(shape.array, present.length);
  let next = 0;
  for (let row = 0; row < present.length; row++) {
    if (present[row] === 1) values[row] = must(dense[next++], 'as many values as present rows');
  }
  return values;
}

function decodeDoubles(
  form: Exclude<Form, 'wide'>,
  head: ByteReader,
  body: ByteReader,
  valueType: ValueType,
  dense: Float64Array,
): void {
  switch (form) {
    case 'constant':
      dense.fill(head.zigzag());
      return;
    case 'floatConstant':
      dense.fill(head.float64());
      return;
    case 'delta':
      return decodeDelta(body, dense);
    case 'runs':
      return decodeRuns(body, dense);
    case 'planes':
      return decodePlanes(body, dense);
    case 'float':
      return decodeFloats(body, dense, valueType);
    default:
      unreachable(form);
  }
}

function isNarrow(values: Float64Array): boolean {
  return values.every((value) => Number.isInteger(value) && Math.abs(value) <= NARROW_MAX);
}

interface Candidate {
  readonly form: Form;
  readonly bytes: Uint8Array;
  readonly bits: number;
}

function candidates(values: Float64Array): Candidate[] {
  const forms: [Form, (body: ByteWriter, values: Float64Array) => void][] = [
    ['delta', encodeDelta],
    ['runs', encodeRuns],
    ['planes', encodePlanes],
  ];
  return forms.map(([form, encode]) => {
    const body = new ByteWriter();
    encode(body, values);
    return { form, bytes: body.view(), bits: informationBits(body.view()) };
  });
}

/** Shannon's estimate for independent bytes: what an ideal order-0 coder would need. */
function informationBits(bytes: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = must(counts[byte], 'byte below 256') + 1;
  let bits = 0;
  for (const count of counts) {
    if (count > 0) bits += count * Math.log2(bytes.length / count);
  }
  return bits;
}

/** Differences of neighbours; the first one from 0. */
function encodeDelta(body: ByteWriter, values: Float64Array): void {
  let previous = 0;
  for (const value of values) {
    body.zigzag(value - previous);
    previous = value;
  }
}

function decodeDelta(body: ByteReader, dense: Float64Array): void {
  let value = 0;
  for (let index = 0; index < dense.length; index++) {
    value = safe(value + body.zigzag());
    dense[index] = value;
  }
}

/** All run lengths less one (a run of 1 is 0), then all differences of neighbouring runs. */
function encodeRuns(body: ByteWriter, values: Float64Array): void {
  const steps = new ByteWriter();
  let previous = 0;
  let start = 0;
  for (let index = 1; index <= values.length; index++) {
    if (index < values.length && values[index] === values[start]) continue;
    const value = must(values[start], 'start of a run');
    body.varint(index - start - 1);
    steps.zigzag(value - previous);
    previous = value;
    start = index;
  }
  body.bytes(steps.view());
}

function decodeRuns(body: ByteReader, dense: Float64Array): void {
  const ends: number[] = [];
  for (let filled = 0; filled < dense.length;) {
    filled += body.varint() + 1;
    ends.push(filled);
  }
  if (ends.at(-1) !== dense.length) throw corrupt('runs exceed the rows');
  let value = 0;
  let start = 0;
  for (const end of ends) {
    value = safe(value + body.zigzag());
    dense.fill(value, start, end);
    start = end;
  }
}

/** The smallest value, then every value's distance from it: lowest bytes of all first. */
function encodePlanes(body: ByteWriter, values: Float64Array): void {
  let least = Infinity;
  let greatest = -Infinity;
  for (const value of values) {
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  // 255 apart need one byte a value, 256 apart need two.
  let width = 1;
  while (greatest - least >= 256 ** width) width += 1;
  body.zigzag(least);
  body.byte(width);
  for (let plane = 0; plane < width; plane++) {
    const scale = 256 ** plane;
    for (const value of values) body.byte(Math.floor((value - least) / scale) % 256);
  }
}

function decodePlanes(body: ByteReader, dense: Float64Array): void {
  dense.fill(body.zigzag());
  const width = body.byte();
  if (width < 1 || width > 7) throw corrupt(`values of ${width} bytes, 1 to 7 allowed`);
  for (let plane = 0; plane < width; plane++) {
    const scale = 256 ** plane;
    const bytes = body.bytes(dense.length);
    for (let index = 0; index < dense.length; index++) {
      dense[index] = safe(
        must(dense[index], 'value to add to') + must(bytes[index], 'byte of the plane') * scale,
      );
    }
  }
}

/** Integers beyond 2^50: exact differences modulo 2^64. */
function encodeWide(body: ByteWriter, values: RawValues): void {
  let previous = 0n;
  for (const value of values) {
    const exact = BigInt(value);
    body.zigzag64(exact - previous);
    previous = exact;
  }
}

function decodeWide(body: ByteReader, dense: RawValues): void {
  let value = 0n;
  for (let index = 0; index < dense.length; index++) {
    value = BigInt.asIntN(64, value + body.zigzag64());
    // A BigUint64Array reads the same 64 bits as unsigned.
    dense[index] = dense instanceof Float64Array ? Number(value) : value;
  }
}

function safe(value: number): number {
  if (!Number.isSafeInteger(value)) throw corrupt('a value exceeds 2^53 - 1');
  return value;
}
