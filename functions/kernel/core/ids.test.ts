import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  batchId,
  bindingId,
  MAX_SEQ,
  namePart,
  prefixEnd,
  sessionPrefix,
  timePart,
  windowId,
} from './ids.ts';

test('batchId pads the number, so that ids sort as the numbers do', () => {
  expect(batchId('v1', 's1', 42)).toBe('v1/s1/00000042');
  expect(windowId('v1', 's1', 7, 1)).toBe('v1/s1/00000007/0001');
});

test('batchId order equals number order', () => {
  fc.assert(
    fc.property(fc.nat(MAX_SEQ), fc.nat(MAX_SEQ), (a, b) => {
      expect(batchId('v', 's', a) < batchId('v', 's', b)).toBe(a < b);
    }),
  );
});

test.each(['', '.', '..', '../x', 'a/b', 'a\u0000b', 'ü', 'a b', 'x'.repeat(65)])(
  'namePart refuses %j',
  (name) => {
    expect(() => namePart(name, 'vehicle')).toThrow('is not a valid name');
  },
);

test('namePart takes 64 characters and not 65', () => {
  expect(namePart('x'.repeat(64), 'vehicle')).toHaveLength(64);
});

test.each([-1, 0.5, Number.NaN, MAX_SEQ + 1, Number.POSITIVE_INFINITY])(
  'batchId refuses the number %d',
  (seq) => {
    expect(() => batchId('v', 's', seq)).toThrow('must be an integer from 0 to 99999');
  },
);

test('prefixEnd comes after every id of the prefix and before the next session', () => {
  const prefix = sessionPrefix('v1', 's1');
  expect(batchId('v1', 's1', MAX_SEQ) < prefixEnd(prefix)).toBe(true);
  expect(prefixEnd(prefix) < sessionPrefix('v1', 's2')).toBe(true);
});

test('timePart sorts and holds name characters only', () => {
  expect(timePart(1_767_225_600_000)).toBe('2026-01-01T00.00.00.000Z');
});

test('bindingId stands under the session, so that it goes with it', () => {
  expect(bindingId('v1', 's1')).toBe('v1/s1/campaign');
  expect(bindingId('v1', 's1').startsWith(sessionPrefix('v1', 's1'))).toBe(true);
});
