import { exampleRun } from '#loadtest/ledger/testing/example-run.ts';
import type { BurstRecord } from '../burst-record.ts';
import { recordAll } from '#loadtest/vehicles/testing/fake-gateway.ts';
import type { DemoConfig, LoadConfig, RunRecords } from '../run-records.ts';
import type { ScalingRecords } from '../scaling-summary.ts';

/** Records of a small run in which everything came out. */
export function exampleRecords(batches = 3): RunRecords & { readonly config: DemoConfig } {
  const { records, facts } = exampleRun(batches);
  return {
    config: {
      schema: 'tachograph.config/1',
      kind: 'Demo',
      name: 'demo',
      vehicles: 1,
      speed: 5,
      seed: 1,
      drive: {
        path: 'examples/drive/x.gz',
        sha256: 'ab',
        frames: 300,
        faults: 0,
        durationMs: 3_000,
      },
      campaign: {
        campaign: 'demo',
        version: 3,
        definitionSha256: 'cd',
        definition: recordAll(),
      },
    },
    run: {
      schema: 'tachograph.run/1',
      startedAt: '2026-01-05T08:00:00.000Z',
      durationMs: 1_000,
      announcements: 4,
      vehicles: [{ vehicle: 'veh-0001', session: 's1', failure: null }],
      problems: [],
      stages: {
        export: { delivered: 4, retried: 0, deadLettered: 0, redelivered: 0, cpuMs: 120 },
        campaign: {
          delivered: null,
          retried: null,
          deadLettered: null,
          redelivered: null,
          cpuMs: null,
        },
      },
    },
    environment: {
      cpuModel: 'Example CPU',
      cores: 2,
      memoryBytes: 8_000_000_000,
      os: 'Linux',
      node: 'v24.21.0',
      natsServer: '2.12.0',
      gitCommit: null,
      gitDirty: null,
    },
    records,
    facts,
    bursts: [],
  };
}

/** The same of a run with emulated batches and a demand at one stage. */
export function exampleLoadRecords(batches = 3): RunRecords & { readonly config: LoadConfig } {
  const records = exampleRecords(batches);
  const { schema, vehicles, seed, campaign } = records.config;
  const demand = { demand: 'cpuTime:50ms@instead', placement: 'inline', seed: 1 };
  return {
    ...records,
    config: {
      schema,
      kind: 'Run',
      name: 'emulated',
      vehicles,
      seed,
      campaign,
      load: {
        profile: 'emulated',
        arrivals: { kind: 'poisson', ratePerS: 20 },
        durationMs: 30_000,
      },
      demands: { export: demand },
    },
    run: { ...records.run, burstsLost: { export: 0 } },
    bursts: Array.from({ length: batches }, (_, index) => exampleBurst(index + 1)),
  };
}

/** The same of an experiment with a cluster of its own, whose stage `export` had one replica for 10 s. */
export function exampleScaledRecords(batches = 3): RunRecords & { readonly config: LoadConfig } {
  const records = exampleLoadRecords(batches);
  const { config, run } = records;
  const levels = [{ ratePerS: 20, forMs: 30_000 }];
  const load = { ...config.load, arrivals: { kind: 'step', process: 'poisson', levels } as const };
  return {
    ...records,
    config: {
      ...config,
      name: 'step',
      policy: 'kpa',
      load,
      scaledBy: [
        {
          service: 'export',
          policy: 'kpa',
          module: null,
          periodMs: 2_000,
          config: { minScale: 0 },
        },
      ],
      experiment: {
        kind: 'Run',
        name: 'step',
        question: null,
        target: 'local',
        seed: 1,
        stages: { export: { demand: 'cpuTime:50ms@instead' } },
        load: { ...load, vehicles: 1, settleWithinMs: 60_000 },
        arm: { name: 'kpa', policy: { kind: 'kpa' } },
        policies: {},
      },
    },
    run: { ...run, measured: { fromMs: 5_000, untilMs: 65_000 } },
    scaling: exampleScaling(),
  };
}

/** One replica of `export`: launched at 6 s, gone at 16 s. */
function exampleScaling(): ScalingRecords {
  const row = { service: 'export', replica: 'export-1', node: null, pid: 7, why: null };
  return {
    replicas: [
      { atMs: 6_000, phase: 'launching', ...row },
      { atMs: 6_100, phase: 'ready', ...row },
      { atMs: 16_000, phase: 'gone', ...row },
    ],
    coldStarts: [
      {
        service: 'export',
        replica: 'export-1',
        fromZero: true,
        requestedMs: 5_995,
        decidedMs: 6_000,
        slotMs: 6_000,
        startDelayMs: 0,
        spawnedMs: 6_005,
        bootedMs: 6_040,
        loadedMs: 6_090,
        listeningMs: 6_100,
        firstResponseMs: 6_120,
      },
    ],
    samples: [
      {
        atMs: 15_000,
        service: 'export',
        offeredPerS: 1,
        concurrency: 0.5,
        queued: 0,
        desired: 1,
        ready: 1,
        starting: 0,
        draining: 0,
        panicking: false,
        path: 'serve',
        backlog: 0,
        replicas: [{ name: 'export-1', cpuMs: 400, memoryBytes: 60_000_000 }],
      },
    ],
  };
}

/** A burst of 50 ms that waited 4 ms for a CPU. */
export const exampleBurst = (n: number, change: Partial<BurstRecord> = {}): BurstRecord => ({
  stage: 'export',
  instance: 'export-1-1767600000000',
  n,
  endedAtMs: 1_767_600_000_000 + n,
  kind: 'cpuTime',
  place: 'instead',
  nominal: 50,
  mode: 'inline',
  steps: 40_000_000,
  cpuMs: 50.01,
  wallMs: 54.21,
  readyMs: 4,
  restMs: 0.2,
  queuedMs: 0,
  involuntarySwitches: 1,
  rate: 1,
  aborted: false,
  ...change,
});
