import { expect, test } from 'vitest';
import { burnExecution } from './burn-execution.ts';
import {
  parseCpusAllowed,
  parseMachineTicks,
  parsePressureMs,
  parseRunNs,
  pressurePaths,
} from './probe-pages.ts';
import { readProbeLines, type ProbeLine } from './probe-job.ts';
import { exampleStudy, PROBE } from './testing/example-study.ts';
import { toNdjson } from '#loadtest/results/ndjson.ts';
import type { BurstRequest } from '#kernel/demand/burner.ts';
import type { BurstReport } from '#kernel/demand/demand.ts';

const cell = { node: 'node-2', qos: 'best-effort', execution: 1 } as const;

function fakeBurner() {
  const asked: BurstRequest[] = [];
  const burn = (request: BurstRequest): BurstReport => {
    asked.push(request);
    return {
      kind: request.kind,
      place: request.place,
      nominal: request.ms,
      mode: 'inline',
      steps: 1,
      cpuMs: request.ms,
      wallMs: request.ms + 1,
      readyMs: 1,
      restMs: 0,
      involuntarySwitches: 2,
      rate: 1,
      queuedMs: 0,
      aborted: false,
    };
  };
  return { asked, burner: { burn } };
}

const turn = async (): Promise<void> => {};

test('burnExecution: one row a burst, numbered within iteration and execution', async () => {
  const { burner, asked } = fakeBurner();
  const rows = await burnExecution(exampleStudy(), cell, { burner, localStepsPerMs: 1, turn });
  expect(rows).toHaveLength(2 * (4 + 2));
  expect(rows.map(({ order }) => order)).toEqual(rows.map((_, index) => index));
  expect(rows.every((row) => row.wallMs === row.demandMs + 1 && row.node === 'node-2')).toBe(true);
  const keys = rows.map(({ demandMs, iteration, burst }) => `${demandMs} ${iteration} ${burst}`);
  expect(new Set(keys).size).toBe(rows.length);
  expect(
    asked.every((request) => request.kind === 'work' && request.stepsPerMs === 'reference'),
  ).toBe(true);
});

test('burnExecution at the local rate, and of CPU time: as the study says', async () => {
  const local = fakeBurner();
  const parts = { burner: local.burner, localStepsPerMs: 900_000, turn };
  await burnExecution(exampleStudy({ rate: 'local' }), cell, parts);
  expect(local.asked[0]).toMatchObject({ kind: 'work', stepsPerMs: 900_000 });
  const time = fakeBurner();
  await burnExecution(exampleStudy({ kind: 'cpuTime' }), cell, { ...parts, burner: time.burner });
  expect(time.asked[0]).toEqual({ kind: 'cpuTime', place: 'instead', ms: time.asked[0]?.ms });
});

test('readProbeLines: what was printed; without the last line it is not complete', async () => {
  const { burner } = fakeBurner();
  const rows = await burnExecution(exampleStudy(), cell, { burner, localStepsPerMs: null, turn });
  const bursts = rows.map((row): ProbeLine => ({ kind: 'burst', ...row }));
  expect(readProbeLines(toNdjson([...bursts, { kind: 'probe', ...PROBE }]))).toEqual({
    probe: PROBE,
    bursts: rows,
  });
  expect(readProbeLines(toNdjson(bursts))).toBeUndefined();
});

test('pages of the system: what they say, null for what is not there', () => {
  expect(parseCpusAllowed('Name:\tnode\nCpus_allowed_list:\t0-1,4\n')).toBe('0-1,4');
  expect(parseCpusAllowed('')).toBeNull();
  expect(parsePressureMs('some avg10=0.00 avg60=0.00 avg300=0.00 total=2500\nfull …')).toBe(2.5);
  expect(parsePressureMs('')).toBeNull();
  expect(parseMachineTicks('cpu  10 0 5 100 20 1 1 3 0 0\ncpu0 …')).toEqual({ busy: 20, all: 140 });
  expect(parseMachineTicks('')).toBeNull();
  expect(parseRunNs('834954 367280 2')).toBe(834_954);
  expect(parseRunNs('?')).toBe(0);
  expect(pressurePaths('0::/a/b\n')[0]).toBe('/sys/fs/cgroup/a/b/cpu.pressure');
});
