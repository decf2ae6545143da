import { randomStream } from '#kernel/core/random.ts';
import { silentLog } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { request } from 'undici';
import type { CloudEvent } from '../contracts/cloud-event.ts';
import { eventToBinary } from '../contracts/codec.ts';
import type { Eventing, EventingOptions } from '../dispatch/start-eventing.ts';
import { startEventing } from '../dispatch/start-eventing.ts';
import type { TriggerSpec } from '../dispatch/trigger-spec.ts';

let brokers = 0;

/** Eventing with one Broker, whose name no other test of the process uses. */
export async function startTestEventing(
  natsUrl: string,
  triggers: readonly Partial<TriggerSpec>[],
  options: Partial<EventingOptions> & { readonly brokerName?: string } = {},
): Promise<{ eventing: Eventing; post: (event: CloudEvent) => Promise<number>; name: string }> {
  const name = options.brokerName ?? `test-${++brokers}`;
  const eventing = await startEventing({
    natsUrl,
    brokers: [{ namespace: 'tests', name }],
    triggers: triggers.map((trigger) => testTrigger(name, trigger)),
    resolveUri: ({ uri }) => uri as string,
    clock: systemClock,
    random: randomStream(1, 'jitter'),
    log: silentLog,
    ...options,
    // The server reserves it: the tests' Brokers must fit in side by side.
    limits: { maxBytes: 16 * 1024 * 1024, ...options.limits },
  });
  const post = async (event: CloudEvent): Promise<number> => {
    const { headers, body } = eventToBinary(event);
    const answer = await request(`${eventing.ingressUrl}/tests/${name}`, {
      method: 'POST',
      headers,
      body,
    });
    await answer.body.dump();
    return answer.statusCode;
  };
  return { eventing, post, name };
}

/** A Trigger that retries thrice within milliseconds. */
export const testTrigger = (broker: string, changes: Partial<TriggerSpec>): TriggerSpec => ({
  name: 'trigger',
  broker: { namespace: 'tests', name: broker },
  filter: {},
  subscriber: { uri: 'http://127.0.0.1:9/' },
  maxInFlight: 4,
  ...changes,
  delivery: {
    retry: 3,
    backoffPolicy: 'exponential',
    backoffDelayMs: 2,
    maxBackoffMs: 100,
    timeoutMs: 10_000,
    ...changes.delivery,
  },
});

export const testEvent = (id: string, changes: Partial<CloudEvent> = {}): CloudEvent => ({
  id,
  source: '/tests',
  type: 'test.happened.v1',
  subject: 'veh-1',
  datacontenttype: 'application/json',
  extensions: {},
  data: Buffer.from(JSON.stringify({ id })),
  ...changes,
});
