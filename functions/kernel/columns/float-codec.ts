import { must } from '#kernel/core/assert.ts';
import type { ValueType } from '#kernel/dbc/model.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/**
 * True floats, bit for bit: each value is XORed with the one before, so that what stays the same becomes
 * zero (Gorilla: Pelkonen et al., "Gorilla: A Fast, Scalable, In-Memory Time Series Database", VLDB 2015),
 * and the results are written byte plane by byte plane (all first bytes, then all second bytes …, as
 * Parquet's BYTE_STREAM_SPLIT), so that sign and exponent, which hardly change, meet their like. Gorilla's
 * bit packing is left to the general compressor behind.
 */
export function encodeFloats(body: ByteWriter, values: Float64Array, valueType: ValueType): void {
  const width = floatWidth(valueType);
  const bits = bitsOf(values, width);
  for (let plane = 0; plane < width; plane++) {
    let previous = 0;
    for (let at = plane; at < bits.length; at += width) {
      const byte = must(bits[at], 'byte of a float');
      body.byte(byte ^ previous);
      previous = byte;
    }
  }
}

export function decodeFloats(body: ByteReader, dense: Float64Array, valueType: ValueType): void {
  const width = floatWidth(valueType);
  const bits = new Uint8Array(dense.length * width);
  for (let plane = 0; plane < width; plane++) {
    const bytes = body.bytes(dense.length);
    let previous = 0;
    for (let index = 0; index < bytes.length; index++) {
      previous ^= must(bytes[index], 'byte of the plane');
      bits[index * width + plane] = previous;
    }
  }
  const view = new DataView(bits.buffer);
  for (let index = 0; index < dense.length; index++) {
    dense[index] =
      width === 4 ? view.getFloat32(index * width, true) : view.getFloat64(index * width, true);
  }
}

const floatWidth = (valueType: ValueType): 4 | 8 => (valueType === 'float32' ? 4 : 8);

function bitsOf(values: Float64Array, width: 4 | 8): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * width));
  for (let index = 0; index < values.length; index++) {
    const value = must(values[index], 'float');
    if (width === 4) view.setFloat32(index * width, value, true);
    else view.setFloat64(index * width, value, true);
  }
  return new Uint8Array(view.buffer);
}
