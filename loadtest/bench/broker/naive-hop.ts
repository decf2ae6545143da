import type { AddressInfo } from 'node:net';
import { AckPolicy, jetstream, jetstreamManager, type JsMsg } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { CloudEvent } from 'cloudevents';
import { HTTP } from 'cloudevents';
import { fastify } from 'fastify';
import { listenToParent, MAX_IN_FLIGHT, say } from './bench-process.ts';

/**
 * The same hop as one would write it first: the CloudEvents SDK in structured mode on both sides, JSON
 * parsed at every step, default `js.publish`, `for await` over the consumer, `fetch` to the subscriber.
 * It has the same stream limits, the same deduplication, and as many deliveries under way.
 */
const [natsUrl = '', subscriber = ''] = process.argv.slice(2);
const SUBJECT = 'naive.bench';

const connection = await connect({ servers: natsUrl });
const js = jetstream(connection);
const manager = await jetstreamManager(connection);
await manager.streams.add({ name: 'NAIVE', subjects: [SUBJECT], max_bytes: 1024 ** 3 });
await manager.consumers.add('NAIVE', {
  durable_name: 'bench',
  ack_policy: AckPolicy.Explicit,
  max_ack_pending: 1_000,
});

const app = fastify();
app.addContentTypeParser('application/cloudevents+json', { parseAs: 'string' }, (_, body, done) =>
  done(null, body),
);
app.post('/bench/naive', async (request, reply) => {
  const event = HTTP.toEvent({
    headers: request.headers,
    body: request.body,
  }) as CloudEvent<unknown>;
  event.validate();
  await js.publish(SUBJECT, HTTP.structured(event).body as string, { msgID: event.id });
  return reply.status(202).send();
});

async function deliver(message: JsMsg): Promise<void> {
  const headers = { 'content-type': 'application/cloudevents+json' };
  const event = HTTP.toEvent({ headers, body: message.string() }) as CloudEvent<unknown>;
  if (event.type !== 'bench.happened.v1') return message.ack();
  const { headers: sent, body } = HTTP.structured(event);
  const answer = await fetch(subscriber, {
    method: 'POST',
    headers: sent as Record<string, string>,
    body: body as string,
  });
  await answer.arrayBuffer();
  if (answer.ok) message.ack();
  else message.nak(200);
}

async function dispatch(): Promise<void> {
  const consumer = await js.consumers.get('NAIVE', 'bench');
  const underWay = new Set<Promise<void>>();
  for await (const message of await consumer.consume()) {
    const delivery = deliver(message).finally(() => underWay.delete(delivery));
    underWay.add(delivery);
    if (underWay.size >= MAX_IN_FLIGHT) await Promise.race(underWay);
  }
}

void dispatch();
await app.listen({ host: '127.0.0.1', port: 0 });
listenToParent(() => {});
say({ kind: 'ready', port: (app.server.address() as AddressInfo).port });
