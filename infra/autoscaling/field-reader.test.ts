import { expect, test } from 'vitest';
import { FieldReader } from './field-reader.ts';

test('at: a value below a path, through lists too; undefined where it ends', () => {
  const root = { spec: { list: [{ name: 'a' }], text: 'x' } };
  expect(FieldReader.at(root, ['spec', 'list', '0', 'name'])).toBe('a');
  expect(FieldReader.at(root, [])).toBe(root);
  expect(FieldReader.at(root, ['spec', 'list', '1', 'name'])).toBeUndefined();
  expect(FieldReader.at(root, ['spec', 'text', 'length'])).toBeUndefined();
  expect(FieldReader.at(null, ['spec'])).toBeUndefined();
});

test('at: what every object has by itself is not there', () => {
  expect(FieldReader.at({}, ['constructor'])).toBeUndefined();
  expect(FieldReader.at([1], ['length'])).toBeUndefined();
});

const RANGE = { min: 1, max: 10 };

test.each([
  { found: 5, range: RANGE, value: 5 },
  { found: 1, range: RANGE, value: 1 },
  { found: 10, range: RANGE, value: 10 },
  { found: 2.5, range: RANGE, value: 2.5 },
  { found: undefined, range: { ...RANGE, fallback: 7 }, value: 7 },
  { found: '5', range: { ...RANGE, text: 'too' as const }, value: 5 },
  { found: 5, range: { ...RANGE, text: 'too' as const }, value: 5 },
  { found: '5', range: { ...RANGE, text: 'alone' as const }, value: 5 },
])('number $found of $range', ({ found, range, value }) => {
  const reader = new FieldReader();
  expect(reader.number({ size: found }, ['size'], range)).toBe(value);
  expect(reader.faults).toEqual([]);
});

test.each([
  { found: 0, range: RANGE, message: 'size is 0; it must be a number from 1 to 10' },
  { found: 11, range: RANGE, message: 'size is 11; it must be a number from 1 to 10' },
  { found: NaN, range: RANGE, message: 'size is null; it must be a number from 1 to 10' },
  { found: '5', range: RANGE, message: 'size is "5"; it must be a number from 1 to 10' },
  { found: null, range: RANGE, message: 'size is null; it must be a number from 1 to 10' },
  {
    found: 2.5,
    range: { ...RANGE, integer: true },
    message: 'size is 2.5; it must be an integer from 1 to 10',
  },
  {
    found: '5x',
    range: { ...RANGE, text: 'too' as const },
    message: 'size is "5x"; it must be a number from 1 to 10',
  },
  {
    found: 5,
    range: { ...RANGE, text: 'alone' as const },
    message: 'size is 5; it must be text: put it in quotes',
  },
])('number $found is a fault', ({ found, range, message }) => {
  const reader = new FieldReader();
  expect(reader.number({ size: found }, ['size'], range)).toBe(1);
  expect(reader.result('read')).toEqual({
    value: undefined,
    faults: [{ path: ['size'], message }],
  });
});

test('a number that is required and missing is told at what should hold it', () => {
  const reader = new FieldReader();
  reader.number({ spec: {} }, ['spec', 'size'], RANGE);
  expect(reader.faults).toEqual([{ path: ['spec'], message: 'size is missing' }]);
});

test('one of some words; missing is a fault without a fallback', () => {
  const reader = new FieldReader();
  const read = (found: unknown, fallback?: 'Max' | 'Min') =>
    reader.oneOf({ select: found }, ['select'], ['Max', 'Min'], fallback);
  expect([read('Min'), read(undefined, 'Min')]).toEqual(['Min', 'Min']);
  expect(reader.faults).toEqual([]);
  expect([read('max'), read(undefined), read(7, 'Min')]).toEqual(['Max', 'Max', 'Min']);
  expect(reader.faults.map(({ message }) => message)).toEqual([
    'select is "max"; use Max, Min',
    'select is missing; use Max, Min',
    'select is 7; use Max, Min',
  ]);
});

test.each([
  ['1ms', 1],
  ['1.5s', 1_500],
  ['2m', 120_000],
  ['1h', 3_600_000],
  [undefined, 42],
])('duration %j', (found, ms) => {
  const reader = new FieldReader();
  expect(reader.duration({ period: found }, ['period'], 42)).toBe(ms);
  expect(reader.faults).toEqual([]);
});

test.each(['0s', '61m', '1.1h', '5', 's', '1d', '-1s', 5])('duration %j is a fault', (found) => {
  const reader = new FieldReader();
  expect(reader.duration({ period: found }, ['period'], 42)).toBe(42);
  const shown = JSON.stringify(found);
  const message = `period is ${shown}; use a duration from 1ms to 1h, such as 15s`;
  expect(reader.faults).toEqual([{ path: ['period'], message }]);
});
