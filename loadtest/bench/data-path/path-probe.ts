import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Pool } from 'undici';
import { eventToBinary } from '#eventing/contracts/codec.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { listenToParent, say, type ProbedMs } from '#loadtest/bench/broker/bench-process.ts';
import { openBenchPath } from './bench-path.ts';

/**
 * Times requests to one function by different ways, and the queue that grows while there is none.
 * Argument: the function's unix socket.
 */
const socketPath = process.argv[2] ?? '';

/** As many as the burst is to be served by. */
const REPLICAS = 3;
const DATA = Buffer.from(JSON.stringify({ rows: [{ n: 1, v: 12.5, q: 'ok' }] }));

let sent = 0;
function request() {
  sent += 1;
  const event = {
    id: `probe/${sent}`,
    source: '/bench',
    type: 'bench.happened.v1',
    datacontenttype: 'application/json',
    extensions: {},
    data: DATA,
  };
  const { headers, body } = eventToBinary(event);
  return { method: 'POST', path: '/', headers, body };
}

type Way = () => Promise<unknown>;

const direct = new Pool('http://localhost', { connections: 1, connect: { socketPath } });
const inPath = openBenchPath(1);
inPath.setReplica('bench-0', { socketPath });
const outOfPath = openBenchPath(1);
outOfPath.setReplica('bench-0', { socketPath });
outOfPath.setPath('serve');

/** The same call of the library as the data path's own, or its price would count as the path's gain. */
function by(pool: Pool, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  pool.dispatch(
    { ...request(), path },
    {
      onRequestStart: () => {},
      onResponseStart: () => {},
      onResponseData: () => {},
      onResponseEnd: () => resolve(),
      onResponseError: (_, error) => reject(error),
    },
  );
  return promise;
}

/** The ways take turns, so that what disturbs the machine disturbs all alike. */
async function probe(requests: number, gatewayUrl: string): Promise<ProbedMs> {
  const gateway = new Pool(gatewayUrl, { connections: 1 });
  const ways: Record<keyof ProbedMs, Way> = {
    direct: () => by(direct, '/'),
    serve: () => outOfPath.request(request()),
    activator: () => inPath.request(request()),
    gateway: () => by(gateway, '/bench/'),
  };
  const times: Record<keyof ProbedMs, number[]> = {
    direct: [],
    serve: [],
    activator: [],
    gateway: [],
  };
  for (let round = 0; round < requests; round++) {
    for (const way of Object.keys(ways) as (keyof ProbedMs)[]) {
      const startMs = systemClock.monotonicMs();
      await ways[way]();
      times[way].push(systemClock.monotonicMs() - startMs);
    }
  }
  await gateway.close();
  const { direct: bare, serve, activator, gateway: whole } = times;
  return {
    direct: median(bare),
    serve: median(serve),
    activator: median(activator),
    gateway: median(whole),
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function burst(requests: number): Promise<{ heldBytes: number; servedPerS: number }> {
  const path = openBenchPath(1);
  const beforeBytes = heldBytes();
  const answers = Array.from({ length: requests }, () => path.request(request()));
  const bytes = heldBytes() - beforeBytes;
  const startMs = systemClock.monotonicMs();
  for (let replica = 0; replica < REPLICAS; replica++) {
    path.setReplica(`bench-${replica}`, { socketPath });
  }
  await Promise.all(answers);
  const elapsedS = (systemClock.monotonicMs() - startMs) / 1_000;
  await path.close();
  return { heldBytes: bytes, servedPerS: requests / elapsedS };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Heap and buffers that something still refers to. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

listenToParent((message) => {
  if (message.kind === 'probe') {
    void probe(message.requests, message.gatewayUrl).then((p50Ms) =>
      say({ kind: 'probed', p50Ms }),
    );
  }
  if (message.kind === 'burst') {
    void burst(message.requests).then((result) => say({ kind: 'burstServed', ...result }));
  }
});
say({ kind: 'ready', port: 0 });
