import { readlinkSync } from 'node:fs';
import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { openBurner, type OpenBurner } from '#kernel/demand/open-burner.ts';
import { REFERENCE_STEPS_PER_MS } from '#kernel/demand/wasm-kernel.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import type { BurnReply, BurnRequest, Burst, Series } from './burn-stand.ts';
import { burnNaive, burnOpen, burnWall } from './common-loops.ts';
import { type Gate, waitAt } from './gate.ts';
import { measureRate } from './measure-rate.ts';

/** Before the first request, so that no burst that counts pays for the engine's compiler: 25 ms. */
const WARM_UP: Series = {
  loop: 'hybrid',
  nominalMs: 0.1,
  n: 200,
  stepsPerMs: REFERENCE_STEPS_PER_MS,
};

/** The thread of a stand: says that it is ready, then answers requests one after the other. */
const port = must(parentPort, 'port to the thread that asks');
const { burner, clockFault } = await tryBurner();
const gate = workerData as Gate;
port.on('message', (request: BurnRequest) => {
  waitAt(gate);
  const reply = answer(request);
  waitAt(gate);
  port.postMessage(reply);
});
const ready: BurnReply = {
  kind: 'ready',
  tid: ownThreadId(),
  clock: burner === null ? null : { kind: burner.clock.kind, stepUs: burner.clock.stepUs },
  clockFault,
};
if (burner !== null) burnSeries(burner, WARM_UP);
port.postMessage(ready);

async function tryBurner(): Promise<{ burner: OpenBurner | null; clockFault: string | null }> {
  try {
    return { burner: await openBurner({ thread: 'worker', needsClock: true }), clockFault: null };
  } catch (error) {
    if (!(error instanceof TachographError) || error.code !== 'CPU_CLOCK_UNUSABLE') throw error;
    return { burner: null, clockFault: String(error.fields['faults']) };
  }
}

function answer(request: BurnRequest): BurnReply {
  if (request.kind === 'nothing') return request;
  const { kernel, clock, burn } = must(burner, 'burner of a thread with a clock');
  if (request.kind === 'rate') {
    return { kind: 'rate', pieces: measureRate({ run: kernel.run, cpuMs: clock.nowMs }) };
  }
  return { kind: 'series', bursts: burnSeries({ kernel, clock, burn }, request.series) };
}

function burnSeries(
  { kernel, clock, burn }: Pick<OpenBurner, 'kernel' | 'clock' | 'burn'>,
  { loop, nominalMs, n, stepsPerMs }: Series,
): readonly Burst[] {
  const ports = { run: kernel.run, wallMs: () => systemClock.monotonicMs(), naiveCpuMs };
  const bursts: Burst[] = [];
  for (let burst = 0; burst < n; burst++) {
    if (loop === 'hybrid') {
      const { cpuMs, wallMs } = burn(
        { kind: 'cpuTime', place: 'instead', ms: nominalMs },
        () => false,
      );
      bursts.push({ cpuMs, wallMs });
      continue;
    }
    const [wallMs, cpuMs] = [systemClock.monotonicMs(), clock.nowMs()];
    if (loop === 'open') burnOpen(ports, nominalMs, stepsPerMs);
    else if (loop === 'wall') burnWall(ports, nominalMs);
    else burnNaive(ports, nominalMs);
    bursts.push({ cpuMs: clock.nowMs() - cpuMs, wallMs: systemClock.monotonicMs() - wallMs });
  }
  return bursts;
}

function naiveCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** `/proc/thread-self` points to `PID/task/TID`. */
function ownThreadId(): number | null {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
