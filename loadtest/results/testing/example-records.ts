import { exampleRun } from '#loadtest/ledger/testing/example-run.ts';
import type { BurstRecord } from '../burst-record.ts';
import { recordAll } from '#loadtest/vehicles/testing/fake-gateway.ts';
import type { DemoConfig, LoadConfig, RunRecords } from '../run-records.ts';

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
