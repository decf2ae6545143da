import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBundles } from '#infra/bundle/ensure-bundles.ts';
import { must } from '#kernel/core/assert.ts';
import { StartSlots } from '#infra/local/replicas/start-slots.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { windowId } from '#kernel/core/ids.ts';
import { openStore } from '#kernel/store/open-store.ts';
import { quantile } from '#loadtest/statistics/quantile.ts';
import type { BenchRow } from './bench-row.ts';
import { startBenchCollector } from './cold-start/bench-collector.ts';
import { emulatedWindow } from './cold-start/emulated-window.ts';
import {
  measureStart,
  storeUrl,
  type MeasuredStart,
  type StartArm,
  type StartPlace,
} from './cold-start/stage-start.ts';

/** Spawn to first response on 2 cores without a quota, with tracing on. */
export const TARGET_FIRST_MS = 80;
/** Of the usual way: from source, with sdk-node and automatic instrumentation. */
export const TARGET_SHARE = 1 / 6;
/** The slowest of eight at once, in single starts. */
export const TARGET_EIGHT = 5;

const ENTRY = 'functions/data-processing/main.ts';
export const INSTRUMENTATION = './loadtest/bench/cold-start/auto-instrumentation.main.ts';
/** One more before them fills caches and is left out. */
const ROUNDS = 11;
const AT_ONCE = 8;
const ROUNDS_AT_ONCE = 5;

/**
 * Cold starts of data-processing, from spawn to the answer of its first event: from its bundle, from
 * source, and from source with OpenTelemetry's own set-up for Node. The ways take turns, so that what
 * else the machine does is in all of them.
 */
export async function coldStartBench(
  clock: Clock,
  root: string,
  rounds: number = ROUNDS,
): Promise<readonly BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tachograph-cold-'));
  const collector = await startBenchCollector();
  try {
    const places = await preparePlaces(root, folder, rounds, clock);
    const arms = await startArms(root, folder, collector.url, clock);
    const starts = new Map<string, MeasuredStart[]>(arms.map(({ name }) => [name, []]));
    for (let round = 0; round <= rounds; round++) {
      for (const [index, arm] of arms.entries()) {
        const place = { ...must(places[0], 'place'), window: round * arms.length + index };
        const start = await measureStart(arm, place, clock);
        if (round > 0) starts.get(arm.name)?.push(start);
      }
    }
    const [bundle] = arms;
    const slowest = await slowestOfEight(must(bundle, 'arm'), places, rounds, clock);
    return coldStartRows(starts, slowest);
  } finally {
    await collector.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The first is the one that targets are about. */
async function startArms(
  root: string,
  folder: string,
  collectorUrl: string,
  clock: Clock,
): Promise<readonly StartArm[]> {
  const { execPath: node, version: nodeVersion } = process;
  const bundles = await ensureBundles(root, [ENTRY], { clock, node, nodeVersion });
  const program = must(bundles.get(ENTRY), 'bundle');
  const env = { K_SINK: collectorUrl };
  const traced = { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl };
  const cached = { ...traced, NODE_COMPILE_CACHE: join(folder, 'compile-cache') };
  return [
    { name: BUNDLE, argv: [program], env: traced },
    { name: 'bundle, without tracing', argv: [program], env },
    {
      name: 'Node alone, an empty server',
      argv: ['loadtest/bench/cold-start/empty-server.cjs'],
      env,
    },
    { name: 'source with compile cache', argv: [ENTRY], env: cached },
    { name: 'source', argv: [ENTRY], env: traced },
    {
      name: SDK_NODE,
      argv: ['--import', INSTRUMENTATION, ENTRY],
      env: { ...env, BENCH_TRACES_URL: `${collectorUrl}/v1/traces` },
    },
  ];
}

const BUNDLE = 'bundle';
const SDK_NODE = 'source with sdk-node and auto-instrumentations';

/** A store for each of eight starts at once, with as many windows as there are starts. */
async function preparePlaces(
  root: string,
  folder: string,
  rounds: number,
  clock: Clock,
): Promise<readonly StartPlace[]> {
  const places: StartPlace[] = [];
  for (let index = 0; index < AT_ONCE; index++) {
    const own = join(folder, String(index));
    await mkdir(own);
    const store = await openStore(storeUrl(own), clock);
    for (let window = 0; window < (rounds + 1) * MAX_ARMS + ROUNDS_AT_ONCE; window++) {
      const fact = emulatedWindow(window);
      await store.insert('windows', windowId('bench', 's1', window, 1), { ...fact });
    }
    await store.close();
    places.push({ root, folder: own, window: 0 });
  }
  return places;
}

const MAX_ARMS = 6;

/**
 * The slowest first response of eight starts asked for at once, from the asking, for each round, ms. As
 * in the process pool, as many are under way at the same time as there are cores.
 */
async function slowestOfEight(
  arm: StartArm,
  places: readonly StartPlace[],
  rounds: number,
  clock: Clock,
): Promise<readonly number[]> {
  const slowest: number[] = [];
  for (let round = 0; round < Math.min(rounds, ROUNDS_AT_ONCE); round++) {
    const window = (rounds + 1) * MAX_ARMS + round;
    const slots = new StartSlots(availableParallelism());
    const all = Promise.withResolvers<void>();
    const askedMs = clock.monotonicMs();
    const firstMs: number[] = [];
    const starts = places.map(async (place) => {
      const release = await slots.acquire(new AbortController().signal);
      await measureStart(arm, { ...place, window }, clock, {
        // The pool gives the slot back when the replica takes requests.
        onListening: release,
        onFirst: () => {
          firstMs.push(clock.monotonicMs() - askedMs);
          if (firstMs.length === places.length) all.resolve();
        },
        until: all.promise,
      });
    });
    // One that fails leaves the others waiting for it: they end with it.
    await Promise.all(starts).catch((error: unknown) => {
      all.resolve();
      throw error;
    });
    slowest.push(Math.max(...firstMs));
  }
  return slowest;
}

/** The figures, with their targets; medians, since one start in ten meets something else at work. */
export function coldStartRows(
  starts: ReadonlyMap<string, readonly MeasuredStart[]>,
  slowestOfEightMs: readonly number[],
): readonly BenchRow[] {
  const median = (name: string, field: keyof MeasuredStart): number =>
    quantile(
      must(starts.get(name), name).map((start) => start[field]),
      0.5,
    );
  const rows: BenchRow[] = [];
  for (const name of starts.keys()) {
    const first: BenchRow = {
      name: `cold start, ${name}: spawn to first response`,
      value: median(name, 'firstMs'),
      unit: 'ms',
    };
    rows.push(name === BUNDLE ? atMost(first, TARGET_FIRST_MS) : first);
    rows.push({
      name: `cold start, ${name}: CPU time`,
      value: median(name, 'cpuMs'),
      unit: 'ms',
    });
  }
  const phases = [
    ['runtime up', 'bootedMs'],
    ['modules loaded', 'loadedMs'],
    ['listening', 'listeningMs'],
  ] as const;
  for (const [name, field] of phases) {
    rows.push({
      name: `cold start, bundle: ${name} after`,
      value: median(BUNDLE, field),
      unit: 'ms',
    });
  }
  const share = median(BUNDLE, 'firstMs') / median(SDK_NODE, 'firstMs');
  rows.push(
    atMost({ name: 'cold start: bundle / sdk-node', value: share, unit: '' }, TARGET_SHARE),
    atMost(
      {
        name: 'eight cold starts at once: slowest / single',
        value: quantile(slowestOfEightMs, 0.5) / median(BUNDLE, 'firstMs'),
        unit: '',
      },
      TARGET_EIGHT,
    ),
  );
  return rows;
}

const atMost = (row: BenchRow, limit: number): BenchRow => ({
  ...row,
  target: `<= ${Number(limit.toPrecision(3))}`,
  met: row.value <= limit,
});
