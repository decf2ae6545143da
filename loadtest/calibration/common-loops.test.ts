import { expect, test } from 'vitest';
import { burnNaive, burnOpen, burnWall } from './common-loops.ts';

/** A CPU at the reference rate, shared with others: `wallPerCpu` ms pass for each ms it runs. */
function fakePorts(wallPerCpu = 1, tickMs = 4) {
  let cpuMs = 0;
  return {
    run: (steps: number) => void (cpuMs += steps / 800_000),
    wallMs: () => cpuMs * wallPerCpu,
    naiveCpuMs: () => Math.floor(cpuMs / tickMs) * tickMs,
    cpuMs: () => cpuMs,
  };
}

test('burnOpen: as many steps as asked, in pieces that the kernel can count', () => {
  const calls: number[] = [];
  const ports = { ...fakePorts(), run: (steps: number) => void calls.push(steps) };
  burnOpen(ports, 5_000, 800_000);
  expect(calls.reduce((sum, steps) => sum + steps, 0)).toBe(4_000_000_000);
  expect(Math.max(...calls)).toBeLessThan(2 ** 31);
});

test('burnOpen with a rate that is a tenth too high: a tenth too much', () => {
  const ports = fakePorts();
  burnOpen(ports, 50, 880_000);
  expect(ports.cpuMs()).toBeCloseTo(55);
});

test('burnWall on a CPU shared with another: half the CPU time', () => {
  const ports = fakePorts(2);
  burnWall(ports, 50);
  expect(ports.cpuMs()).toBeCloseTo(25, 1);
});

test('burnNaive of 1 ms with a clock that moves every 4 ms: burns to the next tick', () => {
  const ports = fakePorts();
  burnNaive(ports, 1);
  expect(ports.cpuMs()).toBeCloseTo(4, 1);
});

test.each([burnNaive, burnWall])('%o with a clock that stands still: ends', (burn) => {
  const ports = { ...fakePorts(0), naiveCpuMs: () => 0 };
  burn(ports, 1);
  expect(ports.cpuMs()).toBeCloseTo(2020, 0);
});
