import { request } from 'undici';
import { STATUS_PATH } from '#infra/local/data-path/gateway.ts';
import { TRIGGERS_PATH } from '#infra/local/data-path/gateway-control.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { ClusterStatus } from '#infra/local/cluster.ts';
import { readBursts } from './read-bursts.ts';
import type { ReplicaBursts } from './burst-collector.ts';

/** Where a pipeline of this machine is reached, and the right to use it. */
export interface PipelineAddress {
  readonly gatewayUrl: string;
  readonly brokerUrl: string;
  /** Its store, opened beside it to read the facts. */
  readonly storeUrl: string;
  readonly engineerToken: string;
  /** Where its collector takes spans, and the folder that has them; absent: it is not traced. */
  readonly traces?: { readonly url: string; readonly dir: string };
}

/** A pipeline that another process runs, over HTTP. Every call throws API_REFUSED on another answer. */
export interface RunningPipeline {
  readonly address: PipelineAddress;
  serviceUrl(service: string): string;
  status(): Promise<ClusterStatus>;
  addTrigger(trigger: object): Promise<void>;
  removeTrigger(name: string): Promise<void>;
  /**
   * What the demands of all replicas that are there consumed since the bursts that `after` names. Each is
   * asked by itself, past the gateway: for the autoscaler that is no request.
   */
  bursts(after: (service: string) => string): Promise<readonly ReplicaBursts[]>;
}

const TIMEOUT_MS = 30_000;

export function runningPipeline(address: PipelineAddress): RunningPipeline {
  const { gatewayUrl, engineerToken } = address;
  const call = async (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly text: string }> => {
    const answer = await request(`${gatewayUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${engineerToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const expectOk = async (...args: Parameters<typeof call>): Promise<string> => {
    const { status, text } = await call(...args);
    if (status >= 200 && status < 300) return text;
    throw new TachographError('API_REFUSED', { path: args[1], status, detail: text });
  };
  return {
    address,
    serviceUrl: (service) => `${gatewayUrl}/${service}`,
    status: async () => JSON.parse(await expectOk('GET', STATUS_PATH)) as ClusterStatus,
    addTrigger: async (trigger) => {
      await expectOk('POST', TRIGGERS_PATH, trigger);
    },
    removeTrigger: async (name) => {
      await expectOk('DELETE', `${TRIGGERS_PATH}/${encodeURIComponent(name)}`);
    },
    bursts: async (after) => {
      const { services } = JSON.parse(await expectOk('GET', STATUS_PATH)) as ClusterStatus;
      return readBursts(services, after);
    },
  };
}
