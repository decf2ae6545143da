import { assert } from '#kernel/core/assert.ts';

const SAFE = Number.MAX_SAFE_INTEGER;

/** An array of bytes that grows by doubling: the writing half of the sample codec. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was written so far, as a view that the next write may invalidate. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Little-endian base 128, 1 to 8 bytes: an integer from 0 to 2^53 - 1. */
  varint(value: number): void {
    assert(value >= 0 && value <= SAFE && Number.isInteger(value), `write ${value} as varint`);
    this.#reserve(8);
    let rest = value;
    // Shifts work on 32 bits only, so larger numbers lose their low bits by division first.
    while (rest >= 0x80000000) {
      this.#bytes[this.#length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Sign folded into the lowest bit (0, -1, 1, -2 → 0, 1, 2, 3); magnitude up to 2^52 - 1. */
  zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  /** The same for a 64-bit two's complement number: 1 to 10 bytes. */
  zigzag64(value: bigint): void {
    const signed = BigInt.asIntN(64, value);
    let rest = BigInt.asUintN(64, (signed << 1n) ^ (signed >> 63n));
    this.#reserve(10);
    while (rest >= 128n) {
      this.#bytes[this.#length++] = Number(rest & 127n) | 128;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  /** UTF-8 with its length in bytes before it. */
  text(value: string): void {
    const encoded = new TextEncoder().encode(value);
    this.varint(encoded.length);
    this.bytes(encoded);
  }

  /** IEEE 754, little-endian: every bit is kept. */
  float64(value: number): void {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value, true);
    this.bytes(new Uint8Array(view.buffer));
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
