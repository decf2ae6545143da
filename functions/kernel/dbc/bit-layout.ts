import type { ByteOrder } from './model.ts';

/** Where a signal's bits are, seen from its least significant one. Both byte orders look alike. */
export interface BitLayout {
  /** The byte that holds the least significant bit. */
  readonly lsbByte: number;
  /** The bit in that byte, 0 = least significant. */
  readonly shift: number;
  /** Where more significant bits are: in later bytes (Intel, 1) or in earlier ones (Motorola, -1). */
  readonly direction: 1 | -1;
  /** Bytes touched: 1 to 9. */
  readonly byteCount: number;
  /** A payload must have so many bytes to hold the whole signal. */
  readonly endByte: number;
}

/**
 * DBC numbers bits 8 * byte + bit, 0 = least significant, in both orders. Intel gives the least
 * significant bit and counts up. Motorola gives the *most* significant bit, walks down to bit 0 of the
 * byte and goes on at bit 7 of the next one.
 *
 * Example `3|12@0`: from bit 3 of byte 0 down to bit 0 (4 bits), then bits 7 to 0 of byte 1 (8 bits).
 * In transmission order, counted from bit 7 of byte 0, that is 4 to 15; 15 lies in byte 1, bit 0.
 */
export function bitLayout(startBit: number, bitLength: number, byteOrder: ByteOrder): BitLayout {
  const startByte = Math.floor(startBit / 8);
  if (byteOrder === 'intel') {
    const shift = startBit % 8;
    const byteCount = Math.ceil((shift + bitLength) / 8);
    return { lsbByte: startByte, shift, direction: 1, byteCount, endByte: startByte + byteCount };
  }
  const last = 8 * startByte + (7 - (startBit % 8)) + bitLength - 1;
  const lsbByte = Math.floor(last / 8);
  return {
    lsbByte,
    shift: 7 - (last % 8),
    direction: -1,
    byteCount: lsbByte - startByte + 1,
    endByte: lsbByte + 1,
  };
}
