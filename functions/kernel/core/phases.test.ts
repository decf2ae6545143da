import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COLD_START_PARTS, formatMarks, parseMarks, PHASES } from './phases.ts';

test('parseMarks reads what formatMarks writes', () => {
  const mark = fc.record({
    phase: fc.constantFrom(...PHASES),
    fromUs: fc.integer({ min: -1e12, max: 1e12 }),
    lengthUs: fc.integer({ min: 0, max: 1e12 }),
  });
  fc.assert(
    fc.property(fc.array(mark), (marks) => {
      expect(parseMarks(formatMarks(marks), PHASES)).toEqual(marks);
    }),
  );
});

test('marks are whole µs', () => {
  expect(formatMarks([{ phase: 'queue', fromUs: -210.4, lengthUs: 209.6 }])).toBe('queue:-210+210');
});

test.each([
  'x',
  'queue',
  'queue:1',
  'queue:1+',
  'queue:1+-2',
  'queue:1+2 ',
  'boot:1+2',
  'queue:1.5+2',
])('parseMarks of %j: none', (text) => {
  expect(parseMarks(text, PHASES)).toBeUndefined();
});

test('the parts of a cold start are marks of their own', () => {
  expect(parseMarks('boot:1+2', COLD_START_PARTS)).toEqual([
    { phase: 'boot', fromUs: 1, lengthUs: 2 },
  ]);
});
