import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBundles } from '#infra/bundle/ensure-bundles.ts';
import { must } from '#kernel/core/assert.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { windowId } from '#kernel/core/ids.ts';
import { openStore } from '#kernel/store/open-store.ts';
import { quantile } from '#loadtest/statistics/quantile.ts';
import type { BenchRow } from './bench-row.ts';
import { startBenchCollector } from './cold-start/bench-collector.ts';
import { emulatedWindow } from './cold-start/emulated-window.ts';
import { INSTRUMENTATION } from './cold-start-bench.ts';
import { storeUrl } from './cold-start/stage-start.ts';
import { StageUnderLoad, type TracingArm } from './tracing/stage-under-load.ts';

/** CPU time that tracing everything may add to an event, in one stage. */
export const TARGET_ALL_US = 35;
/** Of what automatic instrumentation adds. */
export const TARGET_SHARE = 0.5;

const ENTRY = 'functions/data-processing/main.ts';
/**
 * Processes of each arm, one after the other: two of the same program differ by a tenth, for as long as
 * they live, in what the compiler made of them.
 */
const STARTS = 5;
const ROUNDS = 5;
/** Until the compiler has done what it will do: three thousand events. */
const WARM_ROUNDS = 4;
/** Two full batches of spans, which are sent at once: their cost is in the round that made them. */
const EVENTS = 1_024;

export interface TracingBenchSize {
  readonly starts: number;
  readonly rounds: number;
  readonly events: number;
}

/**
 * CPU time of data-processing for an event that comes again (it reads a fact, finds its result there and
 * emits; to write one costs more than all of tracing, and never the same twice), with tracing off, for 1 %
 * of the events, for all, and by OpenTelemetry's automatic instrumentation. The arms take turns, so that
 * what else the machine does is in all of them. CPU time is only ever lengthened by that (caches, the
 * other thread of a core), so the figure of an arm is its first decile over the rounds.
 */
export async function tracingBench(
  clock: Clock,
  root: string,
  { starts, rounds, events }: TracingBenchSize = { starts: STARTS, rounds: ROUNDS, events: EVENTS },
): Promise<readonly BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tachograph-traced-'));
  const collector = await startBenchCollector();
  try {
    const { execPath: node, version: nodeVersion } = process;
    const bundles = await ensureBundles(root, [ENTRY], { clock, node, nodeVersion });
    const arms = tracingArms(must(bundles.get(ENTRY), 'bundle'), collector.url);
    const cpuUs = new Map<string, number[]>(arms.map(({ name }) => [name, []]));
    for (const [index] of arms.entries()) {
      await prepareStore(join(folder, String(index)), events, clock);
    }
    for (let start = 0; start < starts; start++) {
      await measureOnce(arms, { root, folder, rounds, events }, cpuUs);
    }
    return tracingRows(cpuUs);
  } finally {
    await collector.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Measuring {
  readonly root: string;
  readonly folder: string;
  readonly rounds: number;
  readonly events: number;
}

/** A process for each arm, warmed up, and rounds in which they take turns. */
async function measureOnce(
  arms: readonly TracingArm[],
  { root, folder, rounds, events }: Measuring,
  cpuUs: ReadonlyMap<string, number[]>,
): Promise<void> {
  const stages = new Map<string, StageUnderLoad>();
  try {
    for (const [index, arm] of arms.entries()) {
      stages.set(arm.name, await StageUnderLoad.start(arm, root, join(folder, String(index))));
    }
    for (let round = 0; round < WARM_ROUNDS + rounds; round++) {
      for (const [name, stage] of stages) {
        const us = await stage.cpuUsOf(events, (event) => event);
        if (round >= WARM_ROUNDS) cpuUs.get(name)?.push(us);
      }
    }
  } finally {
    for (const stage of stages.values()) await stage.stop();
  }
}

const OFF = 'tracing off';
const ONE_PERCENT = '1 % sampled';
const ALL = 'all, by OTLP';
const FOLDER = 'all, into the folder';
const STANDARD = 'all, by sdk-node without instrumentation';
const AUTO = 'sdk-node with auto-instrumentations';

function tracingArms(program: string, collectorUrl: string): readonly TracingArm[] {
  const env = { K_SINK: collectorUrl, OTEL_METRICS_EXPORTER: 'none' };
  const otlp = { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl };
  const spansUrl = { SPANS_URL: `${collectorUrl}/v1/traces` };
  const own = { argv: [program], sampled: 1 };
  return [
    { ...own, name: OFF, env },
    { ...own, name: ONE_PERCENT, env: otlp, sampled: 0.01 },
    { ...own, name: ALL, env: otlp },
    { ...own, name: FOLDER, env: { ...env, ...spansUrl } },
    { ...own, name: STANDARD, env: { ...otlp, TRACING_SETUP: 'sdk-node' } },
    {
      name: AUTO,
      argv: ['--import', INSTRUMENTATION, program],
      env: { ...env, BENCH_TRACES_URL: `${collectorUrl}/v1/traces` },
      sampled: 1,
    },
  ];
}

async function prepareStore(folder: string, windows: number, clock: Clock): Promise<void> {
  await mkdir(folder);
  const store = await openStore(storeUrl(folder), clock);
  for (let window = 0; window < windows; window++) {
    await store.insert('windows', windowId('bench', 's1', window, 1), {
      ...emulatedWindow(window),
    });
  }
  await store.close();
}

/** The figures, with their targets. */
export function tracingRows(cpuUs: ReadonlyMap<string, readonly number[]>): readonly BenchRow[] {
  const least = (name: string): number => quantile(must(cpuUs.get(name), name), 0.1);
  const added = (name: string): number => least(name) - least(OFF);
  const rows: BenchRow[] = [...cpuUs.keys()].map((name) => ({
    name: `CPU time an event, ${name}`,
    value: least(name),
    unit: 'µs',
  }));
  for (const name of [ONE_PERCENT, ALL, FOLDER, STANDARD, AUTO]) {
    const row: BenchRow = { name: `added by ${name}`, value: added(name), unit: 'µs' };
    rows.push(name === ALL ? atMost(row, TARGET_ALL_US) : row);
  }
  const share = added(ALL) / added(AUTO);
  const name = 'added: all / auto-instrumentations';
  return [...rows, atMost({ name, value: share, unit: '' }, TARGET_SHARE)];
}

const atMost = (row: BenchRow, limit: number): BenchRow => ({
  ...row,
  target: `<= ${limit}`,
  met: row.value <= limit,
});
