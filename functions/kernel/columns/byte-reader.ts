import { TachographError } from '#kernel/core/errors.ts';

/** A block of stored samples that cannot be what `encodeTables` wrote. */
export const corrupt = (detail: string, cause?: unknown): TachographError =>
  new TachographError('BLOCK_CORRUPT', { detail }, { cause });

/** Reads what ByteWriter wrote; everything that does not fit is BLOCK_CORRUPT. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw corrupt('the block ends within a value');
    this.#at += 1;
    return value;
  }

  bytes(length: number): Uint8Array {
    if (length > this.remaining) throw corrupt(`${length} bytes expected, ${this.remaining} left`);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    // 8 bytes hold 56 bits: enough for every safe integer, and the loop's bound.
    for (let index = 0; index < 8; index++) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      scale *= 128;
    }
    throw corrupt('a number exceeds 2^53 - 1');
  }

  zigzag(): number {
    const folded = this.varint();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  zigzag64(): bigint {
    let folded = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      folded |= BigInt(byte & 127) << shift;
      if (byte < 128) {
        if (folded >= 1n << 64n) break;
        return (folded >> 1n) ^ -(folded & 1n);
      }
    }
    throw corrupt('a number exceeds 64 bits');
  }

  /** At most `maxBytes` long, valid UTF-8. */
  text(maxBytes: number): string {
    const length = this.varint();
    if (length > maxBytes) throw corrupt(`a text of ${length} bytes, at most ${maxBytes} allowed`);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes(length));
    } catch (cause) {
      if (cause instanceof TachographError) throw cause;
      throw corrupt('a text is not UTF-8', cause);
    }
  }

  float64(): number {
    const { buffer, byteOffset } = this.bytes(8);
    return new DataView(buffer, byteOffset, 8).getFloat64(0, true);
  }
}
