import { expect, test } from 'vitest';
import { exampleObservation } from '#infra/autoscaling/hpa/testing/example-hpa.ts';
import { fixedPolicy } from './fixed.ts';

test.each([0, 1, 7])('%i replicas, whatever there are', (replicas) => {
  const start = fixedPolicy.start({ replicas }, { nowMs: 0, ready: 0 });
  for (const found of [0, replicas, 12]) {
    const observation = exampleObservation({ replicas: found });
    const { decision } = fixedPolicy.decide({ replicas }, start, observation, 5_000);
    expect(decision).toMatchObject({ desired: replicas, wanted: replicas, path: null });
  }
  expect(fixedPolicy.periodMs({ replicas })).toBe(2_000);
});
