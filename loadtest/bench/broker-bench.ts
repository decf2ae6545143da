import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNatsServer } from '#eventing/broker/nats-server.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { BenchRow } from './bench-row.ts';
import type { Mode } from './broker/bench-process.ts';
import { BenchProcess } from './broker/bench-process.ts';
import { processCpuUs } from './broker/process-cpu.ts';

export const TARGET_BROKER_RATIO = 2;

/** Odd, so that the median is one of them; one more before them warms up and is left out. */
const ROUNDS = 3;
const EVENTS = 3_000;

/**
 * Events per second through the whole hop (POST to the ingress, JetStream, dispatcher, POST to a
 * function) of this design and of a naive one, both at saturation: a closed loop in a process of its own
 * sends as fast as it is answered, and a round ends when the function has every event. The two take
 * turns. `binary` is the nats-server to use.
 */
export async function brokerBench(
  clock: Clock,
  binary: string,
  events: number = EVENTS,
): Promise<BenchRow[]> {
  const storeDir = await mkdtemp(join(tmpdir(), 'tachograph-bench-'));
  const server = await startNatsServer({ binary, storeDir, clock, goMaxProcs: 1 });
  const generator = await BenchProcess.start('closed-loop.ts');
  const hops = [await startHop('lean', server.url), await startHop('naive', server.url)];
  try {
    const results = new Map<Mode, RoundResult[]>([
      ['lean', []],
      ['naive', []],
    ]);
    for (let round = 0; round <= ROUNDS; round++) {
      for (const hop of hops) {
        const result = await runRound(hop, {
          generator,
          natsPid: server.pid,
          round,
          events,
          clock,
        });
        if (round > 0) results.get(hop.mode)?.push(result);
      }
    }
    return rows(results.get('lean') ?? [], results.get('naive') ?? []);
  } finally {
    await Promise.all([
      generator.stop(),
      ...hops.flatMap((hop) => [hop.broker.stop(), hop.fn.stop()]),
    ]);
    await server.stop();
    await rm(storeDir, { recursive: true, force: true });
  }
}

interface Hop {
  readonly mode: Mode;
  readonly fn: BenchProcess;
  readonly broker: BenchProcess;
}

interface RoundResult {
  readonly eventsPerS: number;
  /** CPU of hop, function and (where it can be read) nats-server; the generator's is not in it. */
  readonly cpuUsPerEvent: number;
}

async function startHop(mode: Mode, natsUrl: string): Promise<Hop> {
  const fn = await BenchProcess.start('bench-function.ts', mode);
  const subscriber = `http://127.0.0.1:${fn.port}/`;
  const broker = await BenchProcess.start(`${mode}-hop.ts`, natsUrl, subscriber);
  return { mode, fn, broker };
}

async function runRound(
  { mode, fn, broker }: Hop,
  options: {
    readonly generator: BenchProcess;
    readonly natsPid: number;
    readonly round: number;
    readonly events: number;
    readonly clock: Clock;
  },
): Promise<RoundResult> {
  const { generator, natsPid, round, events, clock } = options;
  const cpuUs = async (): Promise<number> =>
    (await fn.cpuUs()) + (await broker.cpuUs()) + (await processCpuUs(natsPid));
  const beforeUs = await cpuUs();
  fn.tell({ kind: 'expect', events });
  const received = fn.answer('received');
  const sent = generator.answer('sent');
  const startMs = clock.monotonicMs();
  const url = `http://127.0.0.1:${broker.port}/bench/${mode}`;
  generator.tell({ kind: 'send', url, mode, round: `${mode}-${round}`, events });
  const [{ refused }] = await Promise.all([sent, received]);
  const elapsedMs = clock.monotonicMs() - startMs;
  if (refused > 0) throw new Error(`${refused} events were refused in a round that must be whole`);
  return {
    eventsPerS: events / (elapsedMs / 1_000),
    cpuUsPerEvent: ((await cpuUs()) - beforeUs) / events,
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

function rows(lean: readonly RoundResult[], naive: readonly RoundResult[]): BenchRow[] {
  const rate = (results: readonly RoundResult[]): number =>
    median(results.map(({ eventsPerS }) => eventsPerS));
  const cpu = (results: readonly RoundResult[]): number =>
    median(results.map(({ cpuUsPerEvent }) => cpuUsPerEvent));
  const ratio = rate(lean) / rate(naive);
  return [
    { name: 'broker hop: events through it', value: rate(lean), unit: 'events/s' },
    { name: 'broker hop, naive: events through it', value: rate(naive), unit: 'events/s' },
    {
      name: 'broker hop: times the naive one',
      value: ratio,
      unit: '×',
      target: `>= ${TARGET_BROKER_RATIO}`,
      met: ratio >= TARGET_BROKER_RATIO,
    },
    { name: 'broker hop: CPU without the generator', value: cpu(lean), unit: 'µs/event' },
    { name: 'broker hop, naive: CPU without the generator', value: cpu(naive), unit: 'µs/event' },
  ];
}
