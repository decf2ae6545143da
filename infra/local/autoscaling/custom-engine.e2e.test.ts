import { afterEach, expect, test } from 'vitest';
import type { Observation } from '#infra/autoscaling/policy.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { CustomEngine } from './custom-engine.ts';

const FIXTURES = 'infra/local/autoscaling/fixtures';
const observation: Observation = { stats: [], ready: 1, replicas: 1, pods: [], lag: 90 };

const engines: CustomEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

function engineOf(module: string): CustomEngine {
  const engine = new CustomEngine({
    root: process.cwd(),
    module,
    config: { perReplicaPerS: 3 },
    bounds: { min: 0, max: 10 },
    periodMs: 1_000,
    clock: systemClock,
  });
  engines.push(engine);
  engine.start();
  return engine;
}

test('the example policy decides in its thread, and keeps its state there and back', async () => {
  const engine = engineOf('examples/policies/drain-in-time.ts');
  // 90 events, 3 a second and replica, 10 s.
  await expect(engine.decide(observation, 0)).resolves.toMatchObject({ desired: 3, limits: [] });
  const idle = { ...observation, lag: 0 };
  await expect(engine.decide(idle, 14_000)).resolves.toMatchObject({ desired: 1 });
  await expect(engine.decide(idle, 15_000)).resolves.toMatchObject({ desired: 0 });
});

test.each([
  ['endless.ts', 'it took more than 1000 ms for a decision'],
  ['throws.ts', 'it threw RangeError: no idea'],
  ['leaves.ts', 'it ended with exit code 3'],
  // On a busy machine the time is over before the memory is.
  ['hungry.ts', /it ended: .*memory|it took more than 1000 ms/],
  ['no-function.ts', 'it cannot be loaded: Error: its default export is not a function'],
  ['bulky.ts', /what it returned has \d+ bytes; at most 1048576 are kept/],
  ['throws-later.ts', /it ended: null|it took more than/],
  ['function-inside.ts', 'what it returned is not plain data'],
  ['missing.ts', 'it cannot be loaded: Error: Cannot find module'],
])('a policy like %s is refused, twice, and harms nobody', async (file, message) => {
  const engine = engineOf(`${FIXTURES}/${file}`);
  await expect(engine.decide(observation, 0)).rejects.toThrow(message);
  await expect(engine.decide(observation, 1_000)).rejects.toThrow(message);
});
