import { expect, test } from 'vitest';
import type { Observation } from '#infra/autoscaling/policy.ts';
import drainInTime from './drain-in-time.ts';

const observe = (lag: number | null, replicas = 1): Observation => ({
  stats: [],
  ready: replicas,
  replicas,
  pods: [],
  lag,
});

test('120 events, 4 a second, 10 s: three replicas', () => {
  const input = { config: undefined, state: undefined, observation: observe(120), nowMs: 0 };
  expect(drainInTime(input)).toMatchObject({ desired: 3 });
});

test('the last replica goes when nothing has waited for idleS, at its very end', () => {
  const state = { busyMs: 1_000 };
  const at = (nowMs: number) =>
    drainInTime({ config: { idleS: 15 }, state, observation: observe(0), nowMs }).desired;
  expect(at(15_999)).toBe(1);
  expect(at(16_000)).toBe(0);
});

test('nothing is started for nothing', () => {
  const input = { config: undefined, state: undefined, observation: observe(0, 0), nowMs: 50 };
  expect(drainInTime(input).desired).toBe(0);
});
