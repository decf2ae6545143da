import { expect, test } from 'vitest';
import type { Decision } from '#infra/autoscaling/policy.ts';
import { evaluate, startDecision } from './kpa-decision.ts';
import { averagesOf, emptyWindows, recordStat } from './kpa-windows.ts';
import { kpaPolicy } from './kpa.ts';
import { defaultConfig } from './testing/example-config.ts';
import { readRecordedRun, type RecordedRun } from './testing/recorded-run.ts';

/** config-autoscaler at its defaults, as in the record; the revision's limits from its first line. */
function configOf({ config, decisions }: RecordedRun) {
  const [first] = decisions;
  return defaultConfig({
    targetPerReplica: first?.target ?? 0,
    totalPerReplica: first?.totalPerPod ?? 0,
    maxScale: config.maxScale,
  });
}

/**
 * The README of the record: in `concurrency-1` two decisions lie after the load's end, where the moment
 * of the last scrape matters, and are off by less than 0.06. Its last line has the events of four
 * evaluations (three times "Skipping …", then "Un-panicking" six seconds later, when the record shows the
 * bounds of 3): what follows the averages there is of the last of them, so only the averages' part is
 * compared.
 */
test.each([
  { name: 'default-target', decisions: 77, off: 0, merged: 0 },
  { name: 'concurrency-1', decisions: 34, off: 2, merged: 1 },
])('$name: what the real autoscaler received gives its averages and decisions', (expected) => {
  const run = readRecordedRun(expected.name);
  const config = configOf(run);
  let windows = emptyWindows(config);
  let state = startDecision(config, 0, run.atMs(0));
  let next = 0;
  let merged = 0;
  const off: number[] = [];
  for (const row of run.decisions) {
    const nowMs = run.atMs(row.t);
    for (; (run.stats[next]?.atMs ?? Infinity) <= nowMs; next++) {
      const stat = run.stats[next];
      if (stat !== undefined) windows = recordStat(windows, stat);
    }
    const averages = averagesOf(windows, config, nowMs);
    const error = Math.max(
      Math.abs((averages?.stable ?? Infinity) - row.stable),
      Math.abs((averages?.panic ?? Infinity) - row.panic),
    );
    // The record has three decimals.
    if (error > 0.000_501) off.push(error);
    const step = evaluate(config, state, averages ?? { stable: 0, panic: 0 }, row.ready, nowMs);
    state = step.state;
    const { evaluation } = step;
    // The reconciler hears of a new wish some ms later; without a line the one before still stands.
    const wish = run.wishes.findLast(({ t }) => t <= row.t + 0.1);
    const one = row.events.filter((event) => event.startsWith('Skipping')).length <= 1;
    if (!one) merged += 1;
    expect({
      t: row.t,
      desiredStable: evaluation.desiredStable,
      desiredPanic: evaluation.desiredPanic,
      maxUp: evaluation.maxScaleUp,
      maxDown: evaluation.maxScaleDown,
      ...(one && {
        desired: evaluation.desired,
        panicking: evaluation.panicking,
        excessBurst: evaluation.excessBurstCapacity,
      }),
    }).toEqual({
      t: row.t,
      desiredStable: row.desiredStable,
      desiredPanic: row.desiredPanic,
      maxUp: row.maxUp,
      maxDown: row.maxDown,
      ...(one && {
        desired: wish?.desired,
        panicking: row.panicking,
        excessBurst: row.excessBurst,
      }),
    });
  }
  expect(run.decisions).toHaveLength(expected.decisions);
  expect(off).toHaveLength(expected.off);
  expect(merged).toBe(expected.merged);
  for (const error of off) expect(error).toBeLessThan(0.06);
});

/** The record's ticks lie up to so much before each other's place in the second. */
const JITTER_S = 0.001;

/**
 * Evaluations of the record, then a tick every two seconds as it went on. Ticks are some 0.1 ms early or
 * late, which decides whether the 60 s of panic are over: where a line of the reconciler shows when one
 * was, that moment is taken, else the earliest (the tick at 68.36 s was less than 60 s after the one at
 * 8.364979 s, for the last line of the record tells of a third decrease that was skipped).
 */
function moments(run: RecordedRun, untilS: number): number[] {
  const evaluated = run.decisions.map(({ t }) => t);
  const last = (evaluated.at(-1) ?? 0) - JITTER_S;
  const ticks = Array.from(
    { length: Math.max(0, (untilS - last) / 2) },
    (_, n) => last + 2 * n + 2,
  );
  return [
    ...evaluated,
    ...ticks.map((t) => run.wishes.find((wish) => Math.abs(wish.t - t) < 0.1)?.t ?? t),
  ];
}

test.each([
  { name: 'default-target', untilS: 130 },
  { name: 'concurrency-1', untilS: 130 },
])('$name: the whole policy asks for the recorded replicas at the recorded times', (expected) => {
  const run = readRecordedRun(expected.name);
  const config = configOf(run);
  let state = kpaPolicy.start(config, { nowMs: run.atMs(-100), ready: 0 });
  // The revision had been there and had gone to zero before the record begins.
  const atZero = { status: 'inactive', initialised: true, asked: 0, wanted: 0 } as const;
  state = { ...state, ...atZero, reconciledReady: 0, excessBurstCapacity: -211 };
  const scales: { t: number; from: number; to: number }[] = [];
  const paths = new Set<Decision['path']>();
  let next = 0;
  let replicas = 0;
  for (const t of moments(run, expected.untilS)) {
    const nowMs = run.atMs(t);
    const stats = [];
    for (; (run.stats[next]?.atMs ?? Infinity) <= nowMs; next++) {
      const stat = run.stats[next];
      if (stat !== undefined) stats.push(stat);
    }
    const row = run.decisions.find((decision) => decision.t === t);
    const ready = row?.ready ?? run.ready.findLast((known) => known.t <= t)?.count ?? 0;
    const step = kpaPolicy.decide(
      config,
      state,
      { stats, ready, replicas, pods: [], lag: null },
      nowMs,
    );
    state = step.state;
    const { desired, path } = step.decision;
    paths.add(path);
    if (desired !== null && desired !== replicas) scales.push({ t, from: replicas, to: desired });
    replicas = desired ?? replicas;
  }
  expect(scales.map(({ from, to }) => [from, to])).toEqual(
    run.scales.map(({ from, to }) => [from, to]),
  );
  for (const [index, scale] of run.scales.entries()) {
    // The reconciler follows the evaluation within some ms; near the end of the record, where ticks are
    // continued from the last one recorded, within half a second.
    expect(Math.abs((scales[index]?.t ?? Infinity) - scale.t)).toBeLessThan(0.5);
  }
  expect([...paths].map((path) => (path === 'proxy' ? 'Proxy' : 'Serve'))).toEqual([
    ...new Set(run.modes),
  ]);
});
