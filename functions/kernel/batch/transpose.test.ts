import fc from 'fast-check';
import { expect, test } from 'vitest';
import { transpose, untranspose } from './transpose.ts';

test('transpose of rows of 2, 1 and 2 bytes leaves the short one out of the second column', () => {
  const rows = Uint8Array.of(0xaa, 0xbb, 0xcc, 0xdd, 0xee);
  expect(transpose(rows, Uint8Array.of(2, 1, 2))).toEqual(
    Uint8Array.of(0xaa, 0xcc, 0xdd, 0xbb, 0xee),
  );
});

test('transpose of nothing is nothing', () => {
  expect(transpose(new Uint8Array(0), Uint8Array.of(0, 0))).toEqual(new Uint8Array(0));
});

test('untranspose undoes transpose', () => {
  const lengths = fc.array(fc.nat({ max: 64 }), { maxLength: 50 });
  fc.assert(
    fc.property(lengths, (each) => {
      const total = each.reduce((sum, length) => sum + length, 0);
      const rows = Uint8Array.from({ length: total }, (_, index) => index % 251);
      const bytes = Uint8Array.from(each);
      expect(untranspose(transpose(rows, bytes), bytes)).toEqual(rows);
    }),
  );
});
