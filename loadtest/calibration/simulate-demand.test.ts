import { expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import { demandPicture } from './demand-picture.ts';
import { CONDITIONS, type Meaning, simulateDemand } from './simulate-demand.ts';

test.each<readonly [Meaning, string, number, number, number]>([
  ['work', 'alone, reference CPU', 50, 50, 50],
  ['work', 'with one busy neighbour', 100, 50, 50],
  ['work', 'quota: a quarter of a CPU', 125, 50, 50],
  ['work', 'CPU of half the speed', 100, 100, 50],
  ['work;rate=local', 'with one busy neighbour', 100, 50, 50],
  ['work;rate=local', 'CPU of half the speed', 50, 50, 25],
  ['cpuTime', 'with one busy neighbour', 100, 50, 50],
  ['cpuTime', 'quota: a quarter of a CPU', 125, 50, 50],
  ['cpuTime', 'CPU of half the speed', 50, 50, 25],
  ['delay', 'with one busy neighbour', 50, 0, 0],
  ['wall clock loop', 'with one busy neighbour', 50, 25, 25],
  ['wall clock loop', 'quota: a quarter of a CPU', 50, 25, 25],
])(
  'simulateDemand of 50 ms %s, %s: %d ms, CPU %d ms, work %d',
  (meaning, name, wall, cpu, work) => {
    const condition = must(
      CONDITIONS.find((known) => known.name === name),
      'condition of the table',
    );
    const { stretches, ...amounts } = simulateDemand(meaning, condition, 50);
    expect(amounts).toEqual({ wallMs: wall, cpuMs: cpu, work });
    expect(stretches.at(-1)?.untilMs).toBe(wall);
  },
);

test('simulateDemand that never gets the CPU: ends all the same', () => {
  const starved = { name: 'starved', speed: 1, isFree: () => false };
  expect(simulateDemand('cpuTime', starved, 50)).toMatchObject({ wallMs: 10_000, cpuMs: 0 });
});

test('demandPicture: the picture of docs/demand.md', async () => {
  await expect(demandPicture()).toMatchFileSnapshot('../../docs/images/demand-meanings.svg');
});
