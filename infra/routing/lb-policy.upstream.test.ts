import { expect, test } from 'vitest';
import { randomStream } from '#kernel/core/random.ts';
import { must } from '#kernel/core/assert.ts';
import { firstAvailable, randomChoice2, roundRobin, type LbPolicy } from './lb-policy.ts';

/** knative/serving pkg/activator/net/lb_policy_test.go, commit 98e5ef90, restated. */
interface Tracker {
  readonly capacity: number;
  inFlight: number;
}

const trackers = (count: number, capacity: number): Tracker[] =>
  Array.from({ length: count }, () => ({ capacity, inFlight: 0 }));

/** Picks and takes a slot, as a request does that is on its way. */
function take(policy: LbPolicy, targets: readonly Tracker[]): Tracker | undefined {
  const picked = policy(targets);
  if (picked !== undefined) picked.inFlight += 1;
  return picked;
}

const UNLIMITED = Number.POSITIVE_INFINITY;

test('TestRandomChoice_TwoTrackersDistribution', () => {
  const policy = randomChoice2(randomStream(1, 'two'));
  const two = trackers(2, UNLIMITED);
  const picks = Array.from({ length: 100 }, () => two.indexOf(must(policy(two), 'a pick')));
  expect(new Set(picks)).toEqual(new Set([0, 1]));
});

test('TestRandomChoice2: 1 tracker', () => {
  const policy = randomChoice2(randomStream(1, 'one'));
  const one = trackers(1, UNLIMITED);
  expect(take(policy, one)).toBe(one[0]);
  expect(take(policy, one)).toBe(one[0]);
  expect(one[0]?.inFlight).toBe(2);
});

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'TestRandomChoice2: 2 trackers, seed %d',
  (seed) => {
    const policy = randomChoice2(randomStream(seed, 'two'));
    const two = trackers(2, UNLIMITED);
    const first = take(policy, two);
    const second = must(take(policy, two), 'a pick');
    expect(second).not.toBe(first);
    second.inFlight -= 1;
    expect(take(policy, two)).toBe(second);
  },
);

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'TestRandomChoice2: 3 trackers, seed %d',
  (seed) => {
    const policy = randomChoice2(randomStream(seed, 'three'));
    const three = trackers(3, UNLIMITED);
    const picks = [must(take(policy, three), 'a pick'), must(take(policy, three), 'a pick')];
    expect(picks.map(({ inFlight }) => inFlight)).toEqual([1, 1]);
    must(picks[1], 'the second').inFlight -= 1;
    expect(take(policy, three)?.inFlight).toBe(1);
  },
);

test('TestFirstAvailable: 1 tracker, 1 slot', () => {
  const one = trackers(1, 1);
  expect(take(firstAvailable, one)).toBe(one[0]);
  expect(take(firstAvailable, one)).toBeUndefined();
});

test('TestFirstAvailable: 2 trackers, 1 slot', () => {
  const two = trackers(2, 1);
  expect(take(firstAvailable, two)).toBe(two[0]);
  expect(take(firstAvailable, two)).toBe(two[1]);
});

test('TestRoundRobin: with cc=1', () => {
  const policy = roundRobin();
  const three = trackers(3, 1);
  expect(take(policy, three)).toBe(three[0]);
  expect(take(policy, three)).toBe(three[1]);
  // A shorter list starts over, at the one that is occupied.
  expect(take(policy, three.slice(0, 1))).toBeUndefined();
  expect(take(policy, three)).toBe(three[2]);
  expect(take(policy, three)).toBeUndefined();
  must(three[2], 'the last').inFlight -= 1;
  expect(take(policy, three)).toBe(three[2]);
});

test('TestRoundRobin: with cc=2', () => {
  const policy = roundRobin();
  const three = trackers(3, 2);
  expect(take(policy, three)).toBe(three[0]);
  expect(take(policy, three)).toBe(three[1]);
  expect(take(policy, three.slice(0, 1))).toBe(three[0]);
  expect(take(policy, three)).toBe(three[1]);
  expect(take(policy, three)).toBe(three[2]);
  // 0 and 1 have two each.
  expect(take(policy, three)).toBe(three[2]);
});
