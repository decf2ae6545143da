import { expect, test } from 'vitest';
import { allMet, BENCHES, benchLines, benchNames } from './main.ts';

test('benchNames without a text: all benchmarks', () => {
  expect(benchNames(undefined)).toEqual(BENCHES);
});

test('benchNames of a list: those, in its order', () => {
  expect(benchNames('wire, decode')).toEqual(['wire', 'decode']);
});

test('benchNames of an unknown name: refused with the known ones', () => {
  expect(() => benchNames('decode,speed')).toThrow(
    /--only = "decode,speed".*decode, wire, samples/,
  );
});

test('benchLines: aligned, with the verdict where there is a target', () => {
  const lines = benchLines([
    { name: 'decode', value: 1_234_567.8, unit: 'frames/s', target: '>= 500000', met: true },
    { name: 'wire', value: 5.4321, unit: 'B/frame', target: '<= 5', met: false },
    { name: 'frames', value: 0, unit: '' },
  ]);
  expect(lines).toEqual([
    'decode  1,234,568  frames/s  >= 500000: met',
    'wire         5.43  B/frame   <= 5: NOT MET',
    'frames          0',
  ]);
});

test('allMet with one row that misses its target: false', () => {
  const met = { name: 'a', value: 1, unit: '', target: '>= 1', met: true };
  expect(allMet([{ bench: 'decode', rows: [met, { name: 'b', value: 1, unit: '' }] }])).toBe(true);
  expect(allMet([{ bench: 'wire', rows: [met, { ...met, met: false }] }])).toBe(false);
});
