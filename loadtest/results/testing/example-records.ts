import { exampleRun } from '#loadtest/ledger/testing/example-run.ts';
import { recordAll } from '#loadtest/vehicles/testing/fake-gateway.ts';
import type { RunRecords } from '../run-records.ts';

/** Records of a small run in which everything came out. */
export function exampleRecords(batches = 3): RunRecords {
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
  };
}
