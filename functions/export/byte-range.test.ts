import { expect, test } from 'vitest';
import { byteRange } from './byte-range.ts';

test.each([
  [undefined, 'whole'],
  ['bytes=0-0', [0, 1]],
  ['bytes=0-999', [0, 1_000]],
  ['bytes=900-2000', [900, 1_000]],
  ['bytes=500-', [500, 1_000]],
  ['bytes=999-', [999, 1_000]],
  ['bytes=-1', [999, 1_000]],
  ['bytes=-5000', [0, 1_000]],
  ['bytes=1000-', 'unsatisfiable'],
  ['bytes=1000-2000', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=0-1,5-6', 'whole'],
  ['items=0-1', 'whole'],
  ['bytes=0-9999999999999999', 'whole'],
])('byteRange + %j of 1,000 bytes is %j', (header, expected) => {
  const range = byteRange(header, 1_000);
  expect(range.kind === 'part' ? [range.start, range.end] : range.kind).toEqual(expected);
});

test('byteRange + an empty file satisfies no range', () => {
  expect(byteRange('bytes=0-', 0).kind).toBe('unsatisfiable');
  expect(byteRange('bytes=-1', 0).kind).toBe('unsatisfiable');
  expect(byteRange(undefined, 0).kind).toBe('whole');
});
