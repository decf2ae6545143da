import { expect, test } from 'vitest';
import { coldStartRows } from './cold-start-bench.ts';
import type { MeasuredStart } from './cold-start/stage-start.ts';

const start = (firstMs: number): MeasuredStart => ({
  bootedMs: 25,
  loadedMs: 40,
  listeningMs: firstMs - 10,
  firstMs,
  cpuMs: firstMs - 5,
});

const SDK_NODE = 'source with sdk-node and auto-instrumentations';

/** Medians of 70 and 600 ms. */
const starts = new Map([
  ['bundle', [start(66), start(70), start(300)]],
  [SDK_NODE, [start(590), start(600), start(610)]],
]);

const rowOf = (name: string, slowest = [280]) =>
  coldStartRows(starts, slowest).find((row) => row.name === name);

test('coldStartRows: the median of a bundle’s first response is held against its target', () => {
  expect(rowOf('cold start, bundle: spawn to first response')).toEqual({
    name: 'cold start, bundle: spawn to first response',
    value: 70,
    unit: 'ms',
    target: '<= 80',
    met: true,
  });
  const slow = new Map([...starts, ['bundle', [start(81)]]]);
  const [row] = coldStartRows(slow, [280]);
  expect(row).toMatchObject({ value: 81, met: false });
});

test('coldStartRows: another way has no target, but a share', () => {
  expect(rowOf(`cold start, ${SDK_NODE}: spawn to first response`)).not.toHaveProperty('met');
  expect(rowOf('cold start: bundle / sdk-node')).toMatchObject({
    value: 70 / 600,
    target: '<= 0.167',
    met: true,
  });
});

test.each([
  [[340, 350, 360], true],
  [[340, 351, 360], false],
])(
  'coldStartRows + the slowest of eight took %j ms: at most five single ones, %s',
  (slowest, met) => {
    const row = rowOf('eight cold starts at once: slowest / single', slowest);
    expect(row).toMatchObject({ target: '<= 5', met });
  },
);
