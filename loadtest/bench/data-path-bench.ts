import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNatsServer } from '#eventing/broker/nats-server.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { BenchRow } from './bench-row.ts';
import { BenchProcess, type ProbedMs } from './broker/bench-process.ts';
import { processCpuUs } from './broker/process-cpu.ts';

export const TARGET_HOP_MS = 0.5;
export const TARGET_EVENTS_PER_S = 3_000;

/** Odd, so that the median is one of them; one more before them warms up and is left out. */
const ROUNDS = 3;
const EVENTS = 6_000;
const PROBES = 1_000;
const QUEUED = 10_000;

export interface DataPathBenchSize {
  readonly events: number;
  readonly probes: number;
  readonly queued: number;
}

interface Round {
  readonly eventsPerS: number;
  /** µs an event, by process. */
  readonly cpuUs: CpuUs;
}

type CpuUs = Readonly<Record<'hop' | 'function' | 'nats' | 'generator', number>>;

/**
 * `dispatch`: the events are in the stream before the function is there; timed is their way from there.
 * `hop`: they come in at the ingress while they are delivered.
 */
type Way = 'dispatch' | 'hop';

interface Parts {
  readonly fn: BenchProcess;
  readonly hop: BenchProcess;
  readonly generator: BenchProcess;
  readonly probe: BenchProcess;
  readonly natsPid: number;
  readonly gatewayUrl: string;
  readonly clock: Clock;
}

/**
 * The data path of the local cluster before one function on a unix socket: what a request pays for the
 * activator and for the gateway, how many small events pass from the ingress through JetStream,
 * dispatcher and activator to the function, at saturation, and what a queue of ten thousand costs.
 */
export async function dataPathBench(
  clock: Clock,
  binary: string,
  size: DataPathBenchSize = { events: EVENTS, probes: PROBES, queued: QUEUED },
): Promise<BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tachograph-bench-'));
  const server = await startNatsServer({ binary, storeDir: folder, clock, goMaxProcs: 1 });
  const started: BenchProcess[] = [];
  const start = async (module: string, ...args: readonly string[]): Promise<BenchProcess> => {
    const child = await BenchProcess.start(module, ...args);
    started.push(child);
    return child;
  };
  try {
    const socketPath = join(folder, 'fn.sock');
    const fn = await start('bench-function.ts', 'lean', socketPath);
    const hop = await start('../data-path/path-hop.ts', server.url, socketPath);
    const asked = hop.answer('gateway');
    hop.tell({ kind: 'askGateway' });
    const { port: gatewayPort } = await asked;
    const parts = {
      fn,
      hop,
      generator: await start('closed-loop.ts'),
      probe: await start('../data-path/path-probe.ts', socketPath),
      natsPid: server.pid,
      gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
      clock,
    };
    return await measure(parts, size);
  } finally {
    await Promise.all(started.map((child) => child.stop()));
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(parts: Parts, size: DataPathBenchSize): Promise<BenchRow[]> {
  const rounds: Record<Way, Round[]> = { dispatch: [], hop: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const way of ['dispatch', 'hop'] as const) {
      const result = await runRound(parts, way, `${way}-${round}`, size.events);
      if (round > 0) rounds[way].push(result);
    }
  }
  const { probe, gatewayUrl } = parts;
  const probed = probe.answer('probed');
  probe.tell({ kind: 'probe', requests: size.probes, gatewayUrl });
  const { p50Ms } = await probed;
  const served = probe.answer('burstServed');
  probe.tell({ kind: 'burst', requests: size.queued });
  const { heldBytes, servedPerS } = await served;
  const queued = size.queued.toLocaleString('en-GB');
  return [
    ...hopRows(p50Ms),
    ...eventRows(rounds.dispatch, rounds.hop),
    {
      name: `activator: memory of ${queued} requests that wait`,
      value: heldBytes / 1_048_576,
      unit: 'MiB',
    },
    { name: 'activator: these served by 3 replicas, one each', value: servedPerS, unit: '1/s' },
  ];
}

async function runRound(parts: Parts, way: Way, round: string, events: number): Promise<Round> {
  const { fn, hop, generator, clock } = parts;
  const send = async (): Promise<void> => {
    const sent = generator.answer('sent');
    const url = `http://127.0.0.1:${hop.port}/bench/path`;
    generator.tell({ kind: 'send', url, mode: 'lean', round, events });
    const { refused } = await sent;
    if (refused > 0) throw new Error(`${refused} events were refused; a round must be whole`);
  };
  fn.tell({ kind: 'expect', events });
  hop.tell({ kind: 'replica', ready: way === 'hop' });
  if (way === 'dispatch') await send();
  const before = await cpuUs(parts);
  const startMs = clock.monotonicMs();
  const received = fn.answer('received');
  if (way === 'dispatch') hop.tell({ kind: 'replica', ready: true });
  await Promise.all([received, way === 'hop' ? send() : undefined]);
  const elapsedMs = clock.monotonicMs() - startMs;
  const after = await cpuUs(parts);
  const perEvent = (part: keyof CpuUs): number => (after[part] - before[part]) / events;
  return {
    eventsPerS: events / (elapsedMs / 1_000),
    cpuUs: {
      hop: perEvent('hop'),
      function: perEvent('function'),
      nats: perEvent('nats'),
      generator: perEvent('generator'),
    },
  };
}

const cpuUs = async ({ fn, hop, generator, natsPid }: Parts): Promise<CpuUs> => ({
  hop: await hop.cpuUs(),
  function: await fn.cpuUs(),
  nats: await processCpuUs(natsPid),
  generator: await generator.cpuUs(),
});

function hopRows({ direct, serve, activator, gateway }: ProbedMs): BenchRow[] {
  const more = (what: string, ms: number): BenchRow => ({
    name: `data path: p50 more ${what}`,
    value: ms - direct,
    unit: 'ms',
  });
  const hop = more('with the activator in the path', activator);
  return [
    { name: 'data path: p50 of a request straight to the function', value: direct, unit: 'ms' },
    more('by the queue-proxy alone', serve),
    { ...hop, target: `<= ${TARGET_HOP_MS}`, met: hop.value <= TARGET_HOP_MS },
    more('with gateway (HTTP) and activator', gateway),
  ];
}

function eventRows(dispatch: readonly Round[], hop: readonly Round[]): BenchRow[] {
  const rate = (rounds: readonly Round[]): number =>
    median(rounds.map((round) => round.eventsPerS));
  const cpu = (what: string, rounds: readonly Round[], part: keyof CpuUs): BenchRow => ({
    name: `data path: ${what}`,
    value: median(rounds.map((round) => round.cpuUs[part])),
    unit: 'µs/event',
  });
  const dispatched = rate(dispatch);
  return [
    {
      name: 'data path: events from the stream through dispatcher, activator and function',
      value: dispatched,
      unit: 'events/s',
      target: `>= ${TARGET_EVENTS_PER_S}`,
      met: dispatched >= TARGET_EVENTS_PER_S,
    },
    cpu('CPU of dispatcher and activator', dispatch, 'hop'),
    cpu('CPU of the function', dispatch, 'function'),
    cpu('CPU of nats-server', dispatch, 'nats'),
    { name: 'data path: events that come in meanwhile', value: rate(hop), unit: 'events/s' },
    cpu('CPU of ingress, dispatcher and activator then', hop, 'hop'),
    cpu('CPU of nats-server then', hop, 'nats'),
    cpu('CPU of the generator then', hop, 'generator'),
  ];
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
