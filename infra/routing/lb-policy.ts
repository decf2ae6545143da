import type { Random } from '#kernel/core/random.ts';

/** A replica as a load balancer sees it. */
export interface LbTarget {
  /** Requests it may have at once; Infinity: no limit. */
  readonly capacity: number;
  /** Requests it has by this balancer. */
  readonly inFlight: number;
}

/**
 * Picks the replica for the next request; undefined: none is free. Whoever asks counts the request in
 * `inFlight` before he asks again. Targets come in an order that stays, oldest first.
 *
 * Source of all: knative/serving pkg/activator/net/lb_policy.go.
 */
export type LbPolicy = <T extends LbTarget>(targets: readonly T[]) => T | undefined;

/**
 * What the activator uses: container concurrency 1 to 3 the first free replica (the others can go idle
 * and away), above 3 in rotation (an even load), 0 = no limit the less loaded of two.
 */
export function lbPolicyFor(containerConcurrency: number, random: Random): LbPolicy {
  if (containerConcurrency === 0) return randomChoice2(random);
  return containerConcurrency <= 3 ? firstAvailable : roundRobin();
}

/** The first that has a free slot. */
export const firstAvailable: LbPolicy = (targets) => targets.find(isFree);

/**
 * In rotation, passing over those without a free slot. With three replicas of one slot: 0, 1, 2, none;
 * when 2 is free again, 2. When there are fewer targets than the last pick's place, from the start.
 */
export function roundRobin(): LbPolicy {
  let next = 0;
  return (targets) => {
    if (next >= targets.length) next = 0;
    for (let step = 0; step < targets.length; step++) {
      const index = (next + step) % targets.length;
      const target = targets[index];
      if (target === undefined || !isFree(target)) continue;
      next = index + 1;
      return target;
    }
    return undefined;
  };
}

/**
 * The one with less in flight of two picked at random, a coin between equals; never none, as it is for
 * replicas without a limit.
 */
export function randomChoice2(random: Random): LbPolicy {
  return (targets) => {
    const { length } = targets;
    if (length <= 1) return targets[0];
    const first = length === 2 ? 0 : random.below(length);
    // One of the others: places from the first pick on move up by one.
    const other = length === 2 ? 1 : random.below(length - 1);
    const second = length > 2 && other >= first ? other + 1 : other;
    const [a, b] = [targets[first], targets[second]];
    if (a === undefined || b === undefined) return a ?? b;
    if (a.inFlight === b.inFlight) return random.below(2) === 0 ? a : b;
    return a.inFlight < b.inFlight ? a : b;
  };
}

/** Any, whatever its load: what a Kubernetes Service does. */
export function uniformRandom(random: Random): LbPolicy {
  return (targets) => targets[random.below(targets.length)];
}

const isFree = (target: LbTarget): boolean => target.inFlight < target.capacity;
