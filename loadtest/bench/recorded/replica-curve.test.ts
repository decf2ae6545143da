import { expect, test } from 'vitest';
import { curveFigures } from './replica-curve.ts';

test('curveFigures of the worked number', () => {
  const curve = [
    [0, 0],
    [1, 2],
    [2, 4],
    [5, 0],
    [9, 0],
  ] as const;
  expect(curveFigures(curve)).toEqual({
    peak: 4,
    firstReadyS: 1,
    peakS: 2,
    replicaSeconds: 14,
    zeroS: 5,
  });
});

test('curveFigures of a curve that does not end at zero ends with its last moment', () => {
  expect(
    curveFigures([
      [0, 1],
      [3, 1],
    ]),
  ).toMatchObject({ zeroS: 3, replicaSeconds: 3 });
});

test('curveFigures of nothing has no moments', () => {
  expect(curveFigures([])).toMatchObject({ peak: 0, replicaSeconds: 0, zeroS: Number.NaN });
});
