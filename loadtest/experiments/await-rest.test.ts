import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { runUntil } from '#loadtest/vehicles/testing/run-until.ts';
import { awaitRest, restingReplicas, type ReplicasNow, type RestWait } from './await-rest.ts';
import type { ScaledBy } from '#loadtest/results/policy-rows.ts';

const replicas = (ready: number, starting = 0, draining = 0): ReplicasNow => ({
  ready,
  starting,
  draining,
});

/** Each look sees the next of `looks`, then the last one for ever. */
function start(looks: readonly Record<string, ReplicasNow>[], change: Partial<RestWait> = {}) {
  const clock = new VirtualClock();
  let look = 0;
  const running = awaitRest({
    replicasNow: async () => looks[Math.min(look++, looks.length - 1)] ?? {},
    resting: new Map(),
    withinMs: 1_000,
    clock,
    signal: new AbortController().signal,
    ...change,
  });
  return { clock, running };
}

const run = async (...args: Parameters<typeof start>) => {
  const { clock, running } = start(...args);
  return { isAtRest: await runUntil(clock, running), afterMs: clock.monotonicMs() };
};

test('awaitRest: resolves when the last replica has gone', async () => {
  const looks = [
    { a: replicas(1), b: replicas(0) },
    { a: replicas(0, 0, 1), b: replicas(0) },
    { a: replicas(0), b: replicas(0, 1) },
    { a: replicas(0), b: replicas(0) },
  ];
  expect(await run(looks)).toMatchObject({ isAtRest: true });
});

test('awaitRest: what the policy keeps is rest', async () => {
  const resting = new Map([['a', 1]]);
  expect(await run([{ a: replicas(2) }, { a: replicas(1) }], { resting })).toMatchObject({
    isAtRest: true,
  });
  expect(await run([{ a: replicas(1), b: replicas(1) }], { resting })).toMatchObject({
    isAtRest: false,
  });
});

test('awaitRest: gives up when the time is up', async () => {
  const { isAtRest, afterMs } = await run([{ a: replicas(1) }]);
  expect(isAtRest).toBe(false);
  expect(afterMs).toBeGreaterThanOrEqual(1_000);
});

test('awaitRest that is interrupted: rejects with the reason', async () => {
  const abort = new AbortController();
  const { clock, running } = start([{ a: replicas(1) }], { signal: abort.signal });
  await clock.advance(200);
  abort.abort(new Error('Interrupted'));
  await expect(runUntil(clock, running)).rejects.toThrow('Interrupted');
});

test.each<[string, unknown, number]>([
  ['kpa', { minScale: 0, enableScaleToZero: true }, 0],
  ['kpa', { minScale: 2, enableScaleToZero: true }, 2],
  ['kpa', { minScale: 0, enableScaleToZero: false }, 1],
  ['hpa', { minReplicas: 1 }, 1],
  ['keda', { minReplicaCount: 2, idleReplicaCount: null }, 2],
  ['keda', { minReplicaCount: 2, idleReplicaCount: 0 }, 0],
  ['schedule', { steps: [{ replicas: 4 }, { replicas: 1 }] }, 1],
  ['node', { minNodes: 2, services: [{ name: 'a', replicasPerNode: 3 }] }, 6],
  ['node', { minNodes: 2, services: [] }, 0],
  ['fixed', { replicas: 4 }, 4],
  ['mine', { replicas: 4 }, 0],
  ['kpa', undefined, 0],
])('restingReplicas of %s with %j: %d', (policy, config, rest) => {
  const row: ScaledBy = { service: 'a', policy, module: null, periodMs: 1_000, config };
  expect(restingReplicas([row])).toEqual(new Map([['a', rest]]));
});
