import { Agent, request } from 'undici';
import type { ReplicaAddress } from '#infra/local/data-path/replica-address.ts';
import type { ServiceStatus } from '#infra/local/replicas/pool-workload.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { BURSTS_PATH, type BurstsAnswer } from '#kernel/runtime/bursts.ts';
import type { ReplicaBursts } from './burst-collector.ts';

const TIMEOUT_MS = 5_000;

/** Reads the bursts of every replica that takes requests. One that goes meanwhile is left out. */
export async function readBursts(
  services: readonly ServiceStatus[],
  after: (service: string) => string,
): Promise<readonly ReplicaBursts[]> {
  const replicas = services.flatMap(({ name, replicas: own }) =>
    own.flatMap(({ address }) => (address === undefined ? [] : [{ stage: name, address }])),
  );
  const answers = await Promise.all(
    replicas.map(async ({ stage, address }) => {
      const answer = await readReplica(address, after(stage));
      return answer === undefined ? [] : [{ stage, answer }];
    }),
  );
  return answers.flat();
}

/** Undefined: it has no demand, or it does not answer any more. */
async function readReplica(
  address: ReplicaAddress,
  after: string,
): Promise<BurstsAnswer | undefined> {
  // One connection a reading: a replica that is told to end waits for those that are kept.
  const agent = new Agent({
    connections: 1,
    keepAliveTimeout: 1,
    ...('socketPath' in address ? { connect: { socketPath: address.socketPath } } : {}),
  });
  const origin = 'port' in address ? `http://127.0.0.1:${address.port}` : 'http://localhost';
  const query = after === '' ? '' : `?after=${encodeURIComponent(after)}`;
  const path = `${BURSTS_PATH}${query}`;
  try {
    const { statusCode, body } = await request(`${origin}${path}`, {
      dispatcher: agent,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    const text = await body.text();
    if (statusCode === 404) return undefined;
    if (statusCode === 200) return JSON.parse(text) as BurstsAnswer;
    throw new TachographError('API_REFUSED', { path, status: statusCode, detail: text });
  } catch (error) {
    if (hasGone(error)) return undefined;
    throw error;
  } finally {
    await agent.close();
  }
}

const GONE = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

const hasGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && GONE.has(String(error.code));
