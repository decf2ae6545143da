import { expect, test } from 'vitest';
import { cpuMsOfStat, processCpuMs } from './process-cpu.ts';

test('cpuMsOfStat of a name with brackets and spaces: utime and stime in ms', () => {
  const rest = 'S 1 1 1 0 -1 4194560 100 0 0 0 25 17 0 0 20 0 11 0 1 1 1';
  expect(cpuMsOfStat(`42 (a) b (c) ${rest}`)).toBe(420);
});

test('cpuMsOfStat of something else: null', () => {
  expect(cpuMsOfStat('42 (node) S 1')).toBeNull();
});

test('processCpuMs of a process that is gone: null', async () => {
  // Above the largest pid_max Linux allows.
  expect(await processCpuMs(4_194_305)).toBeNull();
});
