import { request } from 'undici';
import type { ClusterStatus } from '#infra/local/cluster.ts';
import { STATUS_PATH } from '#infra/local/data-path/gateway.ts';
import type { LocalState } from './local-state.ts';

const ANSWER_LIMIT_MS = 5_000;

/** What the running pipeline says about itself. */
export async function fetchStatus({ gatewayUrl }: LocalState): Promise<ClusterStatus> {
  const answer = await request(`${gatewayUrl}${STATUS_PATH}`, {
    headersTimeout: ANSWER_LIMIT_MS,
    bodyTimeout: ANSWER_LIMIT_MS,
  });
  return (await answer.body.json()) as ClusterStatus;
}
