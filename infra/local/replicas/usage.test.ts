import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CpuWindow } from './cpu-window.ts';
import { parseCpuMs, parseResidentBytes, readProcUsage } from './usage.ts';

test.each([
  ['plain', '7 (node) S 1 7 7 0 -1 4194304 100 0 0 0 150 50 3 4 20 0 11 0 99 1 2', 2_000],
  ['a name with spaces and parentheses', '7 (a) R (b) S 1 7 7 0 -1 0 1 0 0 0 1 2 0 0', 30],
  ['cut off', '7 (node) S 1 7', undefined],
  ['empty', '', undefined],
])('parseCpuMs: %s', (_name, page, cpuMs) => {
  expect(parseCpuMs(page)).toBe(cpuMs);
});

test.each([
  ['a process', 'Name:\tnode\nVmHWM:\t  90 kB\nVmRSS:\t    64 kB\nThreads:\t7\n', 65_536],
  ['one that has ended', 'Name:\tnode\nState:\tZ (zombie)\n', undefined],
])('parseResidentBytes: %s', (_name, page, bytes) => {
  expect(parseResidentBytes(page)).toBe(bytes);
});

test.skipIf(process.platform !== 'linux')('readProcUsage reads this very process', async () => {
  const usage = await readProcUsage(process.pid);
  expect(usage?.cpuMs).toBeGreaterThan(0);
  expect(usage?.memoryBytes).toBeGreaterThan(10_000_000);
  // No process can have this number.
  const beyond = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8')) + 1;
  expect(await readProcUsage(beyond)).toBeUndefined();
});

test('CpuWindow: an average over the window, null before two readings', () => {
  const window = new CpuWindow(2_000);
  expect(window.millis()).toBeNull();
  window.record(0, 1_000);
  expect(window.millis()).toBeNull();
  window.record(1_000, 1_500);
  expect(window.millis()).toBe(500);
  window.record(2_000, 1_500);
  expect(window.millis()).toBe(250);
  // The reading at 0 is outside from here on; the one at 1,000 begins the window exactly.
  window.record(3_000, 1_500);
  expect(window.millis()).toBe(0);
  window.record(4_000, 3_500);
  expect(window.millis()).toBe(1_000);
});

test('CpuWindow holds the readings of its window and no more', () => {
  const window = new CpuWindow(15_000);
  for (let second = 0; second <= 10_000; second++) window.record(second * 1_000, second * 100);
  expect(window.millis()).toBe(100);
  expect(window.size).toBe(16);
});
