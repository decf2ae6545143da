import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { RECORD_FILES } from '#infra/local/cluster-recorder.ts';
import type { SampleRow } from '#infra/local/cluster-records.ts';
import { startCluster, type LocalCluster } from '#infra/local/cluster.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import { openLoop } from '#loadtest/emulated/open-loop.ts';
import { readNdjson } from '#loadtest/results/ndjson.ts';
import type { BenchRow } from './bench-row.ts';
import { curveFigures, type CurveFigures, type ReplicaCurve } from './recorded/replica-curve.ts';

const OVERLAY = 'loadtest/bench/recorded';
const RECORD = 'infra/autoscaling/kpa/fixtures/concurrency-1.ndjson';
/** As recorded: 8 requests a second for 60 s, evenly spaced; zero comes a window after the last one. */
const RATE_PER_S = 8;
const LOAD_S = 60;
const WATCH_S = 150;

/**
 * The load of a recorded run of the real autoscaler on the local cluster: how close the replicas come.
 *
 * The local replicas are processes that wait out an artificial start delay as long as a pod's start was
 * there; CPU is not the same. What has to agree is the shape: the peak at the maximum within seconds of
 * the first request, held for the panic's window, and zero a stable window after the last request.
 */
export async function recordedBench(
  clock: Clock,
  root: string,
  natsBinary: string,
): Promise<BenchRow[]> {
  const recorded = curveFigures(await recordedCurve(root));
  const folder = await mkdtemp(join(tmpdir(), 'tachograph-recorded-'));
  try {
    const local = curveFigures(await localCurve(clock, root, natsBinary, folder));
    return rows(recorded, local);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function rows(recorded: CurveFigures, local: CurveFigures): BenchRow[] {
  const pair = (name: keyof CurveFigures, unit: string): BenchRow[] => [
    { name: `${name}, real Knative (recorded)`, value: recorded[name], unit },
    { name: `${name}, local cluster`, value: local[name], unit },
  ];
  return [
    ...pair('peak', 'replicas'),
    ...pair('firstReadyS', 's'),
    ...pair('peakS', 's'),
    ...pair('replicaSeconds', 'replica-seconds'),
    ...pair('zeroS', 's'),
    {
      name: 'replica-seconds, local ÷ real',
      value: local.replicaSeconds / recorded.replicaSeconds,
      unit: 'ratio',
      target: '0.8 to 1.25',
      met:
        local.replicaSeconds >= 0.8 * recorded.replicaSeconds &&
        local.replicaSeconds <= 1.25 * recorded.replicaSeconds,
    },
    {
      name: 'peak, local − real',
      value: local.peak - recorded.peak,
      unit: 'replicas',
      target: '0',
      met: local.peak === recorded.peak,
    },
  ];
}

async function recordedCurve(root: string): Promise<ReplicaCurve> {
  const text = await readFile(join(root, RECORD), 'utf8');
  const curve: [number, number][] = [];
  for (const line of text.trim().split('\n')) {
    const row = JSON.parse(line) as {
      readonly k: string;
      readonly t: number;
      readonly ready: number;
    };
    if (row.k === 'series') curve.push([row.t, row.ready]);
  }
  return curve;
}

async function localCurve(
  clock: Clock,
  root: string,
  natsBinary: string,
  folder: string,
): Promise<ReplicaCurve> {
  const cluster = await startCluster({
    root,
    overlay: OVERLAY,
    dataDir: folder,
    recordDir: folder,
    configMaps: {},
    secrets: {},
    env: {},
    nats: { binary: natsBinary, attempts: [] },
    clock,
    log: silentLog,
  });
  let fromMs: number;
  try {
    fromMs = cluster.elapsedMs();
    await load(clock, cluster);
    await clock.sleep(fromMs + WATCH_S * 1_000 - cluster.elapsedMs());
  } finally {
    await cluster.stop();
  }
  const curve: [number, number][] = [];
  for await (const row of readNdjson<SampleRow>(join(folder, RECORD_FILES.samples))) {
    if (row.atMs >= fromMs) curve.push([(row.atMs - fromMs) / 1_000, row.ready]);
  }
  return curve;
}

async function load(clock: Clock, cluster: LocalCluster): Promise<void> {
  const url = `${cluster.serviceUrl('recorded')}/`;
  const plan = Array.from({ length: RATE_PER_S * LOAD_S }, (_, index) => ({
    intendedMs: (index * 1_000) / RATE_PER_S,
  }));
  await openLoop({
    plan,
    maxOutstanding: plan.length,
    startMs: clock.monotonicMs(),
    clock,
    signal: new AbortController().signal,
    send: async () => {
      const answer = await request(url, { method: 'POST', body: '{}' });
      await answer.body.dump();
      if (answer.statusCode !== 204) throw new Error(`The function answered ${answer.statusCode}`);
    },
  });
}
