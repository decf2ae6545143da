import type { BitLayout } from './bit-layout.ts';
import { bitLayout } from './bit-layout.ts';
import type { Signal } from './model.ts';

/**
 * How a signal's bits become a number: `narrow` fits in one 32-bit word together with its shift,
 * `middle` in a double (53 bits), `wide` in no double; floats are reinterpreted bits.
 */
type ExtractionKind = 'narrow' | 'middle' | 'wide' | 'float32' | 'float64';

export interface Extraction extends BitLayout {
  readonly kind: ExtractionKind;
  readonly bitLength: number;
  readonly signed: boolean;
  /** The lowest `bitLength` bits (narrow), or the bits above the first word (middle, wide). */
  readonly mask: number;
  /** 2^bitLength: what a negative number of `middle` kind is too large by. */
  readonly modulus: number;
}

/** Up to 53 bits a double is exact, so 54 and more need 64-bit integers. */
const MAX_DOUBLE_BITS = 53;

export const isWide = ({ bitLength, valueType }: Signal): boolean =>
  bitLength > MAX_DOUBLE_BITS && (valueType === 'unsigned' || valueType === 'signed');

function extractionKind(signal: Signal, shift: number): ExtractionKind {
  const { valueType, bitLength } = signal;
  if (valueType === 'float32' || valueType === 'float64') return valueType;
  if (isWide(signal)) return 'wide';
  return shift + bitLength <= 32 ? 'narrow' : 'middle';
}

/** The lowest `bits` bits, 0 to 32 of them: `1 << 32` would be 1 in JavaScript. */
const lowMask = (bits: number): number => (bits >= 32 ? -1 : (1 << bits) - 1);

export function planExtraction(signal: Signal): Extraction {
  const { startBit, bitLength, byteOrder, valueType } = signal;
  const layout = bitLayout(startBit, bitLength, byteOrder);
  const kind = extractionKind(signal, layout.shift);
  const bitsAbove = kind === 'middle' ? bitLength - (32 - layout.shift) : bitLength - 32;
  return {
    ...layout,
    kind,
    bitLength,
    signed: valueType === 'signed',
    mask: lowMask(kind === 'narrow' ? bitLength : bitsAbove),
    modulus: 2 ** bitLength,
  };
}

/** `count` bytes (beyond 4: the first 4), least significant first, as a 32-bit word. */
function word(payload: Uint8Array, at: number, direction: number, count: number): number {
  // The caller has checked that the bytes exist, so no element is undefined.
  let bits = payload[at] as number;
  if (count > 1) bits |= (payload[at + direction] as number) << 8;
  if (count > 2) bits |= (payload[at + 2 * direction] as number) << 16;
  if (count > 3) bits |= (payload[at + 3 * direction] as number) << 24;
  return bits;
}

/** The bits from `shift` on of the number whose words are `low` and `high`. */
const shifted = (low: number, high: number, shift: number): number =>
  // At shift 0 `high << 32` would be `high << 0` in JavaScript.
  shift === 0 ? low : (low >>> shift) | (high << (32 - shift));

function middle(payload: Uint8Array, at: number, plan: Extraction): number {
  const { direction, byteCount, shift } = plan;
  const low = word(payload, at, direction, 4) >>> shift;
  // At least 33 bits are touched, so a fifth byte exists.
  const high = word(payload, at + 4 * direction, direction, byteCount - 4) & plan.mask;
  // `low` has 32 - shift bits left, at least 25; so `high` has at most 28 and stays positive.
  const raw = high * 2 ** (32 - shift) + low;
  return plan.signed && raw >= plan.modulus / 2 ? raw - plan.modulus : raw;
}

const scratch = new DataView(new ArrayBuffer(8));

/** The first word behind the shift; its last bits lie in a fifth byte where the shift is not 0. */
function lowerWord(payload: Uint8Array, at: number, plan: Extraction): number {
  const { direction, byteCount, shift } = plan;
  const low = word(payload, at, direction, 4);
  return byteCount < 5
    ? low
    : shifted(low, word(payload, at + 4 * direction, direction, byteCount - 4), shift);
}

/** The second word of 54 to 64 bits; their ninth byte exists where the shift is not 0. */
function upperWord(payload: Uint8Array, at: number, plan: Extraction): number {
  const { direction, byteCount, shift } = plan;
  const high = word(payload, at + 4 * direction, direction, byteCount - 4);
  const top = byteCount > 8 ? (payload[at + 8 * direction] as number) : 0;
  return shifted(high, top, shift) & plan.mask;
}

function float64(payload: Uint8Array, at: number, plan: Extraction): number {
  scratch.setInt32(0, upperWord(payload, at, plan));
  scratch.setInt32(4, lowerWord(payload, at, plan));
  return scratch.getFloat64(0);
}

function float32(payload: Uint8Array, at: number, plan: Extraction): number {
  scratch.setInt32(0, lowerWord(payload, at, plan));
  return scratch.getFloat32(0);
}

/**
 * The raw value of a signal from a payload that begins at `start`, exact for every kind but `wide`. The
 * payload must have `plan.endByte` bytes from there.
 */
export function extractNumber(payload: Uint8Array, start: number, plan: Extraction): number {
  const at = start + plan.lsbByte;
  if (plan.kind === 'narrow') {
    const bits = word(payload, at, plan.direction, plan.byteCount) >>> plan.shift;
    if (!plan.signed) return (bits & plan.mask) >>> 0;
    // The sign bit goes to the top and is copied down: 12 bits 0xFFF << 20 >> 20 is -1.
    const unused = 32 - plan.bitLength;
    return (bits << unused) >> unused;
  }
  if (plan.kind === 'middle') return middle(payload, at, plan);
  if (plan.kind === 'float32') return float32(payload, at, plan);
  if (plan.kind === 'float64') return float64(payload, at, plan);
  return Number(extractBigint(payload, start, plan));
}

/** The raw value of a signal of the kind `wide`, exact. */
export function extractBigint(payload: Uint8Array, start: number, plan: Extraction): bigint {
  const at = start + plan.lsbByte;
  const low = lowerWord(payload, at, plan) >>> 0;
  const high = upperWord(payload, at, plan) >>> 0;
  const bits = (BigInt(high) << 32n) | BigInt(low);
  return plan.signed ? BigInt.asIntN(plan.bitLength, bits) : bits;
}
