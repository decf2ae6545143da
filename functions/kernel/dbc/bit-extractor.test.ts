import fc from 'fast-check';
import { expect, test } from 'vitest';

import { bitLayout } from './bit-layout.ts';
import { extractBigint, extractNumber, planExtraction } from './bit-extractor.ts';
import type { ByteOrder, Signal } from './model.ts';

interface Layout {
  readonly startBit: number;
  readonly bitLength: number;
  readonly byteOrder: ByteOrder;
}

/** The signal's bits as DBC numbers them, least significant first: the definition, bit by bit. */
function bitNumbers({ startBit, bitLength, byteOrder }: Layout): number[] {
  if (byteOrder === 'intel')
    return Array.from({ length: bitLength }, (_, index) => startBit + index);
  const fromMsb = [startBit];
  while (fromMsb.length < bitLength) {
    const last = fromMsb.at(-1) ?? 0;
    // From bit 0 of a byte on to bit 7 of the next: 8 * b + 0 → 8 * (b + 1) + 7.
    fromMsb.push(last % 8 === 0 ? last + 15 : last - 1);
  }
  return fromMsb.toReversed();
}

function encode(payload: Uint8Array, layout: Layout, raw: bigint): void {
  for (const [index, bit] of bitNumbers(layout).entries()) {
    const byte = Math.floor(bit / 8);
    const mask = 1 << (bit % 8);
    const isSet = ((raw >> BigInt(index)) & 1n) === 1n;
    payload[byte] = isSet ? (payload[byte] ?? 0) | mask : (payload[byte] ?? 0) & ~mask;
  }
}

const BYTES = 24;

const layouts: fc.Arbitrary<Layout> = fc
  .record({
    startBit: fc.integer({ min: 0, max: 8 * BYTES - 1 }),
    bitLength: fc.integer({ min: 1, max: 64 }),
    byteOrder: fc.constantFrom<ByteOrder>('intel', 'motorola'),
  })
  .filter((layout) => Math.max(...bitNumbers(layout)) < 8 * BYTES);

const signal = (layout: Layout, valueType: Signal['valueType']): Signal => ({
  ...layout,
  valueType,
  name: 'X',
  factor: 1,
  offset: 0,
  min: 0,
  max: 0,
  unit: '',
  comment: '',
  isSelector: false,
  multiplex: undefined,
  labels: new Map(),
});

test('extraction of a random layout gives back the integer that was encoded, sign included', () => {
  const noise = fc.uint8Array({ minLength: BYTES, maxLength: BYTES });
  const cases = fc.record({ layout: layouts, signed: fc.boolean(), seed: fc.bigInt(), noise });
  fc.assert(
    fc.property(cases, ({ layout, signed, seed, noise }) => {
      const raw = signed
        ? BigInt.asIntN(layout.bitLength, seed)
        : BigInt.asUintN(layout.bitLength, seed);
      const plan = planExtraction(signal(layout, signed ? 'signed' : 'unsigned'));
      const payload = Uint8Array.from(noise);
      encode(payload, layout, raw);
      if (plan.kind === 'wide') expect(extractBigint(payload, 0, plan)).toBe(raw);
      else expect(extractNumber(payload, 0, plan)).toBe(Number(raw));
      // Behind three foreign bytes, with nothing beyond the last byte that the layout claims to need.
      const cut = Uint8Array.of(1, 2, 3, ...payload.subarray(0, plan.endByte));
      expect(extractNumber(cut, 3, plan)).toBe(Number(raw));
    }),
    { numRuns: 2_000 },
  );
});

test('extraction of a random layout gives back the float that was encoded', () => {
  const bits = new DataView(new ArrayBuffer(8));
  const cases = fc.record({ layout: layouts, isDouble: fc.boolean(), value: fc.double() });
  fc.assert(
    fc.property(cases, ({ layout, isDouble, value }) => {
      const sized = { ...layout, bitLength: isDouble ? 64 : 32 };
      fc.pre(Math.max(...bitNumbers(sized)) < 8 * BYTES);
      bits.setBigUint64(0, 0n);
      if (isDouble) bits.setFloat64(0, value);
      else bits.setFloat32(4, value);
      const payload = new Uint8Array(BYTES).fill(0xa5);
      encode(payload, sized, bits.getBigUint64(0));
      const plan = planExtraction(signal(sized, isDouble ? 'float64' : 'float32'));
      expect(extractNumber(payload, 0, plan)).toBe(isDouble ? value : Math.fround(value));
    }),
    { numRuns: 1_000 },
  );
});

test('bitLayout of a random layout ends at the last byte that holds one of its bits', () => {
  fc.assert(
    fc.property(layouts, (layout) => {
      const bytes = bitNumbers(layout).map((bit) => Math.floor(bit / 8));
      const { lsbByte, byteCount, endByte } = bitLayout(
        layout.startBit,
        layout.bitLength,
        layout.byteOrder,
      );
      expect(endByte).toBe(Math.max(...bytes) + 1);
      expect(byteCount).toBe(new Set(bytes).size);
      expect(lsbByte).toBe(bytes[0]);
    }),
  );
});
