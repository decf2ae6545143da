import { expect, test } from 'vitest';
import type { KpaConfig } from './kpa-config.ts';
import { pathMode } from './data-path-mode.ts';
import {
  evaluate,
  excessBurstCapacity,
  startDecision,
  type DecisionState,
} from './kpa-decision.ts';
import { kpaPolicy } from './kpa.ts';
import { averagesOf, emptyWindows } from './kpa-windows.ts';
import { defaultConfig } from './testing/example-config.ts';
import { KpaRun, load } from './testing/kpa-run.ts';
import { averageAt, emptyWindow, isEmptyAt, recordIn } from './time-window.ts';
import { scaleFor } from './zero-machine.ts';

/**
 * What surprises in Knative's autoscaler (knative/serving, commit 98e5ef90) and is kept on purpose: a
 * comparison with it would differ otherwise.
 */
const CALM: DecisionState = { panicSinceMs: null, maxPanicPods: 0, delay: null };
const NOW_MS = 1_000_000;

const decide = (
  over: Partial<KpaConfig>,
  { stable, panic = stable }: { readonly stable: number; readonly panic?: number },
  ready: number,
  state: DecisionState = CALM,
  nowMs = NOW_MS,
) => evaluate(defaultConfig(over), state, { stable, panic }, ready, nowMs);

const TARGET_10 = { targetPerReplica: 10, totalPerReplica: 10 };

test.each([
  { ready: 1, panic: 10, panics: false },
  // ceil(10.01 / 10) = 2, which is twice the one that is ready.
  { ready: 1, panic: 10.01, panics: true },
  // (2 × 3 − 1) × 10 = 50.
  { ready: 3, panic: 50, panics: false },
  { ready: 3, panic: 50.01, panics: true },
  // None ready counts as one.
  { ready: 0, panic: 10.01, panics: true },
])(
  'rounding up makes panic start early: $ready ready, load $panic at target 10 → $panics',
  ({ ready, panic, panics }) => {
    const { evaluation } = decide(TARGET_10, { stable: 0, panic }, ready);
    expect(evaluation.panicking).toBe(panics);
  },
);

test('concurrency 1 at 70 %: a single request wants two replicas and panics for a minute', () => {
  const config = defaultConfig({ targetPerReplica: 0.7, totalPerReplica: 1, initialScale: 0 });
  const run = new KpaRun(config);
  run.decide(0, 0);
  expect(run.decide(500, 0, [load(500, 1)])).toMatchObject({ desired: 2, panicking: true });
  const decisions = run.ticks(2_000, 70_000, 1, 0);
  const panicking = decisions.filter((decision) => decision.panicking);
  expect(panicking.at(-1)).toMatchObject({ atMs: 60_000, desired: 2, limits: ['panic'] });
});

test('concurrency 1 at 100 %: a single request wants one replica and does not panic', () => {
  const config = defaultConfig({ targetPerReplica: 1, totalPerReplica: 1, initialScale: 0 });
  const run = new KpaRun(config);
  run.decide(0, 0);
  expect(run.decide(500, 0, [load(500, 1)])).toMatchObject({ desired: 1, panicking: false });
});

test('any load in the window wants a replica: zero only when all of it is exactly 0', () => {
  expect(decide({}, { stable: 0.000_001 }, 1).evaluation.desired).toBe(1);
  expect(decide({}, { stable: 0 }, 1).evaluation.desired).toBe(0);
});

test('activation-scale acts on every decision with load, after the rate limits', () => {
  const config = { activationScale: 5, maxScaleUpRate: 2 };
  // The rate allows 2; with load it is 5, from zero or not.
  expect(decide(config, { stable: 300 }, 1).evaluation).toMatchObject({
    desired: 5,
    maxScaleUp: 2,
    limits: ['max-scale-up-rate', 'activation-scale'],
  });
  expect(decide(config, { stable: 1 }, 8).evaluation.desired).toBe(5);
  expect(decide(config, { stable: 0 }, 1).evaluation.desired).toBe(0);
});

test('rates count ready replicas: what starts slowly holds growth back', () => {
  const config = { ...TARGET_10, maxScaleUpRate: 2 };
  // Four were asked for, one is ready: two, not eight. None ready counts as one.
  expect(decide(config, { stable: 400 }, 1).evaluation.desired).toBe(2);
  expect(decide(config, { stable: 400 }, 0).evaluation.desired).toBe(2);
  expect(decide(config, { stable: 400 }, 4).evaluation.desired).toBe(8);
});

test('the fastest way down halves at each decision, and never from two or more to zero', () => {
  const desired = [9, 4, 2, 1].map((ready) => decide({}, { stable: 0 }, ready).evaluation);
  expect(desired.map((evaluation) => evaluation.desired)).toEqual([4, 2, 1, 0]);
  expect(desired[0]?.limits).toEqual(['max-scale-down-rate']);
});

test('requests that wait at the activator count: a slow start under a burst over-provisions', () => {
  // 16 requests/s of 50 ms need one replica at concurrency 1; after 3 s without any, 48 wait.
  const config = { targetPerReplica: 0.7, totalPerReplica: 1 };
  const { evaluation } = decide(config, { stable: 0.05 * 16, panic: 24 }, 0);
  expect(evaluation.desired).toBe(35);
});

test.each([
  { afterMs: 59_999, panicking: true },
  { afterMs: 60_000, panicking: true },
  { afterMs: 60_001, panicking: false },
])('panic ends after the stable window, not at it: $afterMs ms → $panicking', (row) => {
  const state = { ...CALM, panicSinceMs: NOW_MS, maxPanicPods: 7 };
  const step = decide({}, { stable: 1 }, 1, state, NOW_MS + row.afterMs);
  expect(step.evaluation).toMatchObject({
    panicking: row.panicking,
    desired: row.panicking ? 7 : 1,
  });
  expect(step.state.maxPanicPods).toBe(row.panicking ? 7 : 0);
});

test('an autoscaler that finds more than one replica at its start panics for a window', () => {
  expect(startDecision(defaultConfig(), 1, NOW_MS).panicSinceMs).toBeNull();
  const state = startDecision(defaultConfig(), 4, NOW_MS);
  expect(decide({}, { stable: 0 }, 4, state, NOW_MS + 2_000).evaluation).toMatchObject({
    desired: 4,
    panicking: true,
    limits: ['max-scale-down-rate', 'panic'],
  });
});

test('an excess of exactly 0 is enough to take the activator out of the path', () => {
  const config = defaultConfig({ targetBurstCapacity: 150, totalPerReplica: 100 });
  expect(excessBurstCapacity(config, 2, 50)).toBe(0);
  expect(excessBurstCapacity(config, 2, 50.01)).toBe(-1);
  expect(pathMode(2, 0)).toBe('serve');
  expect(pathMode(2, -1)).toBe('proxy');
  // Nothing wanted: through the activator, whatever there is room for.
  expect(pathMode(0, 1_000)).toBe('proxy');
});

test('the excess counts replicas that are really ready, the rates at least one', () => {
  const { evaluation } = decide({}, { stable: 10 }, 0);
  expect(evaluation).toMatchObject({ excessBurstCapacity: -221, maxScaleUp: 1_000 });
});

test('by default the activator leaves the path at three replicas of 100, at 22 of 10, at 212 of 1', () => {
  const leaves = (totalPerReplica: number): number => {
    const config = defaultConfig({ totalPerReplica });
    for (let ready = 1; ; ready++) if (excessBurstCapacity(config, ready, 0) >= 0) return ready;
  };
  // 211 for concurrency 1 with nothing inside; each request inside asks for one more.
  expect([leaves(100), leaves(10), leaves(1)]).toEqual([3, 22, 211]);
  expect(excessBurstCapacity(defaultConfig({ totalPerReplica: 1 }), 212, 1)).toBe(0);
});

test('before the first evaluation the excess is cut off, later rounded down', () => {
  const config = defaultConfig({ totalPerReplica: 0.7, targetBurstCapacity: 211 });
  const start = kpaPolicy.start(config, { nowMs: 0, ready: 0 });
  expect(start.excessBurstCapacity).toBe(-210);
  expect(excessBurstCapacity(config, 1, 0)).toBe(-211);
});

test('the scale-down delay is made with the autoscaler: a later change neither adds nor resizes it', () => {
  const without = startDecision(defaultConfig(), 0, NOW_MS);
  const step = decide({ scaleDownDelayMs: 60_000 }, { stable: 150 }, 1, without);
  expect(step.state.delay).toBeNull();
  const short = startDecision(defaultConfig({ scaleDownDelayMs: 4_000 }), 0, NOW_MS);
  expect(decide({ scaleDownDelayMs: 60_000 }, { stable: 1 }, 1, short).state.delay?.slots).toBe(2);
});

test('within the delay the greatest wish stays, and says so', () => {
  const config = { scaleDownDelayMs: 10_000, panicThreshold: 100 };
  const state = startDecision(defaultConfig(config), 0, NOW_MS);
  const first = decide(config, { stable: 200 }, 3, state, NOW_MS);
  expect(first.evaluation).toMatchObject({ desired: 3, limits: [] });
  const second = decide(config, { stable: 1 }, 3, first.state, NOW_MS + 8_000);
  expect(second.evaluation).toMatchObject({ desired: 3, limits: ['scale-down-delay'] });
  const third = decide(config, { stable: 1 }, 3, second.state, NOW_MS + 10_000);
  expect(third.evaluation).toMatchObject({ desired: 1, limits: [] });
});

test('a window that is exactly its length old is not empty, but its average is 0', () => {
  const window = recordIn(emptyWindow(60_000), 0, 5);
  expect([averageAt(window, 59_000), isEmptyAt(window, 59_000)]).toEqual([5, false]);
  expect([averageAt(window, 60_000), isEmptyAt(window, 60_000)]).toEqual([0, false]);
  expect([averageAt(window, 61_000), isEmptyAt(window, 61_000)]).toEqual([0, true]);
});

test('averages are over the seconds seen: missing recent ones shrink the divisor, gaps count as 0', () => {
  const fresh = recordIn(recordIn(emptyWindow(60_000), 0, 6), 1_000, 2);
  expect(averageAt(fresh, 1_000)).toBe(4);
  // No report for 58 s: still 4, over the two seconds there are … less the one that went.
  expect(averageAt(fresh, 59_000)).toBe(4);
  expect(averageAt(fresh, 60_000)).toBe(2);
  // The next report makes the gap zeros: (6 + 2 + 4) / 6.
  expect(averageAt(recordIn(fresh, 5_000, 4), 5_000)).toBe(2);
});

test('no data is no decision where replicas are scraped, and no load where they are not', () => {
  const config = defaultConfig();
  expect(averagesOf(emptyWindows(config), config, NOW_MS)).toBeNull();
  const always = defaultConfig({ targetBurstCapacity: -1 });
  expect(averagesOf(emptyWindows(always), always, NOW_MS)).toEqual({ stable: 0, panic: 0 });
});

test('an initial scale above the maximum wins over it, but not over a greater wish', () => {
  const config = defaultConfig({ initialScale: 5, maxScale: 3 });
  const inputs = {
    status: 'activating',
    statusSinceMs: NOW_MS,
    path: 'proxy',
    proxySinceMs: null,
    activatorAnswers: true,
  } as const;
  const scaled = (initialised: boolean, wanted: number) =>
    scaleFor(config, { ...inputs, initialised }, wanted, NOW_MS).desired;
  expect([scaled(false, 4), scaled(true, 4)]).toEqual([5, 3]);
  // The minimum is looked at first, the maximum only if that did nothing: who wants more gets less.
  expect(scaled(false, 6)).toBe(3);
});

test('a revision that no route leads to has no minimum, no way-down rate and no delay', () => {
  const config = { reachable: false, minScale: 3, scaleDownDelayMs: 60_000 };
  const state = startDecision(defaultConfig(config), 0, NOW_MS);
  const { evaluation } = decide(config, { stable: 0 }, 10, state);
  expect(evaluation).toMatchObject({ desired: 0, maxScaleDown: 0, limits: [] });
});

test('on the way to zero what was asked for stays: a little load then takes replicas away', () => {
  // The cluster has 3, of which none is ready any more; inactive, and kept for 20 s.
  const config = defaultConfig({ initialScale: 0, podRetentionPeriodMs: 20_000 });
  const run = new KpaRun(config);
  run.state = { ...run.state, status: 'inactive', initialised: true, asked: 3 };
  const before = run.state;
  expect(run.decide(2_000, 0, [load(2_000, 0)])).toMatchObject({ wanted: 0, desired: 3 });
  run.state = before;
  expect(run.decide(2_000, 0, [load(2_000, 1)])).toMatchObject({ wanted: 1, desired: 1 });
});
