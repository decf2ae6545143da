import { readFile, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import process from 'node:process';
import { machineKey } from '#kernel/calibration/machine-key.ts';
import { must } from '#kernel/core/assert.ts';
import { openBurner } from '#kernel/demand/open-burner.ts';
import { REFERENCE_STEPS_PER_MS } from '#kernel/demand/wasm-kernel.ts';
import { nextTurn } from '#kernel/system/next-turn.ts';
import { fitRate } from '#loadtest/calibration/fit-rate.ts';
import {
  readDisturbanceCounters,
  stealShareBetween,
  throttledBetween,
} from '#loadtest/calibration/machine-disturbance.ts';
import { measureRate } from '#loadtest/calibration/measure-rate.ts';
import { toNdjson } from '#loadtest/results/ndjson.ts';
import { burnExecution } from './burn-execution.ts';
import { parseCpusAllowed, parsePressureMs, pressurePaths } from './probe-pages.ts';
import type { ProbeJob, ProbeLine } from './probe-job.ts';

/**
 * One execution: `probe.main.ts JOB`. Joins its group, calibrates, burns, and prints everything at the
 * end, so that nobody works beside it meanwhile. In a Kubernetes Job the environment says which node
 * and execution it is. No signal is handled: SIGTERM ends it at once, in the middle of a burst.
 */
const job = JSON.parse(must(process.argv[2], 'job of the probe')) as ProbeJob;
if (job.joinFile !== null) await writeFile(job.joinFile, String(process.pid));
process.once('disconnect', () => process.exit(1));
const { NODE_NAME, JOB_COMPLETION_INDEX } = process.env;
const cell = {
  ...job.cell,
  node: NODE_NAME ?? job.cell.node,
  execution: JOB_COMPLETION_INDEX === undefined ? job.cell.execution : Number(JOB_COMPLETION_INDEX),
};
const before = await readDisturbanceCounters();
const pressureBefore = await cpuPressureMs();
const burner = await openBurner({ thread: 'main', needsClock: job.study.kind === 'cpuTime' });
const fit = fitRate(measureRate({ run: burner.kernel.run, cpuMs: burner.clock.nowMs }));
const bursts = await burnExecution(job.study, cell, {
  burner,
  localStepsPerMs: fit?.stepsPerMs ?? null,
  turn: nextTurn,
});
const after = await readDisturbanceCounters();
const pressureAfter = await cpuPressureMs();
const key = machineKey(burner.kernel.sha256);
const lines: ProbeLine[] = bursts.map((burst) => ({ kind: 'burst', ...burst }));
lines.push({
  kind: 'probe',
  cpuModel: key.cpuModel,
  architecture: key.architecture,
  kernel: release(),
  nodeVersion: key.node,
  kernelSha256: key.kernelSha256,
  clock: burner.clock.kind,
  cpusAllowed: parseCpusAllowed((await pageOf('/proc/self/status')) ?? ''),
  rate: fit === null ? null : fit.stepsPerMs / REFERENCE_STEPS_PER_MS,
  spread: fit?.spread ?? null,
  throttledPeriods: throttledBetween(before, after),
  stealShare: stealShareBetween(before, after),
  cpuPressureMs:
    pressureBefore === null || pressureAfter === null ? null : pressureAfter - pressureBefore,
});
burner.close();
process.stdout.write(toNdjson(lines), () => process.exit(0));

async function cpuPressureMs(): Promise<number | null> {
  for (const path of pressurePaths((await pageOf('/proc/self/cgroup')) ?? '')) {
    const page = await pageOf(path);
    if (page !== null) return parsePressureMs(page);
  }
  return null;
}

/** null where the system has no such page. */
async function pageOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}
