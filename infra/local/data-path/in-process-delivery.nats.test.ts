import { describe, expect, onTestFinished, test } from 'vitest';
import type { EventingOptions } from '#eventing/dispatch/start-eventing.ts';
import type { TriggerSpec } from '#eventing/dispatch/trigger-spec.ts';
import { JetStreamBroker } from '#eventing/broker/jetstream-broker.ts';
import { eventually } from '#eventing/testing/eventually.ts';
import { natsForTests, startTestNats } from '#eventing/testing/nats-for-tests.ts';
import { startTestEventing, testEvent } from '#eventing/testing/test-eventing.ts';
import { startTestSubscriber, type TestAnswer } from '#eventing/testing/test-subscriber.ts';
import { silentLog } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { PathSender } from './path-sender.ts';
import { ServicePath } from './service-path.ts';

const nats = await natsForTests();
const reason = nats.missing === undefined ? '' : ` (skipped: ${nats.missing})`;

describe.skipIf(nats.missing !== undefined)(`delivery within the process${reason}`, () => {
  /** Eventing whose one Trigger goes to a path without HTTP. */
  const start = async (spec: Partial<TriggerSpec> = {}, options: Partial<EventingOptions> = {}) => {
    const { server, remove } = await startTestNats(nats);
    onTestFinished(remove);
    const path = new ServicePath({
      name: 'one',
      kind: 'Service',
      containerConcurrency: 1,
      timeoutMs: 30_000,
      clock: systemClock,
      random: { next: () => 0, below: () => 0 },
      log: silentLog,
      onFirstRequest: () => {},
      onFirstResponse: () => {},
    });
    onTestFinished(() => path.close());
    const url = 'http://127.0.0.1:9/one/';
    const started = await startTestEventing(server.url, [{ ...spec, subscriber: { uri: url } }], {
      openSender: ({ uri }, sender) =>
        uri === url ? new PathSender(path, '/', url, { ...sender, clock: systemClock }) : undefined,
      ...options,
    });
    onTestFinished(() => started.eventing.stop());
    const stats = async () => (await started.eventing.stats()).triggers['trigger'];
    return { ...started, path, stats, natsUrl: server.url };
  };
  const subscriber = async (answer: () => TestAnswer | Promise<TestAnswer>) => {
    const sink = await startTestSubscriber(answer);
    onTestFinished(() => sink.stop());
    return sink;
  };

  test('an event waits for a cold start longer than AckWait and is delivered once', async () => {
    const ackWaitMs = 300;
    const { post, path, stats, natsUrl, name } = await start({}, { ackWaitMs });
    // A consumer that never answers shows when the deadline has passed: it gets the event again.
    const witness = await JetStreamBroker.connect(natsUrl, silentLog);
    onTestFinished(() => witness.close());
    let attempts = 0;
    const options = { trigger: 'witness', type: undefined, maxUnsettled: 10, ackWaitMs };
    await witness.subscribe({ namespace: 'tests', name }, options, ({ attempt }) => {
      attempts = attempt;
    });
    await post(testEvent('cold'));
    await eventually(() => attempts === 4 && path.queued === 1);
    const sink = await subscriber(() => ({ status: 204 }));
    path.setReplica('one-0', { port: sink.port });
    await eventually(async () => (await stats())?.delivered === 1);
    expect(sink.calls).toHaveLength(1);
    expect(sink.calls[0]?.headers).toMatchObject({ prefer: 'reply', 'kn-namespace': 'tests' });
    expect(await stats()).toMatchObject({ duplicates: 0, retried: 0 });
  });

  test('events wait in the stream but for max-in-flight, and all are served', async () => {
    const { post, path, stats } = await start({ maxInFlight: 5 }, { drainMs: 0 });
    await Promise.all(Array.from({ length: 60 }, (_, index) => post(testEvent(`e-${index}`))));
    await eventually(async () => path.queued === 5 && (await stats())?.pending === 55);
    const sink = await subscriber(() => ({ status: 204 }));
    for (const replica of ['one-0', 'one-1', 'one-2']) {
      path.setReplica(replica, { port: sink.port });
    }
    await eventually(async () => (await stats())?.delivered === 60);
    expect(sink.mostOpen()).toBeLessThanOrEqual(3);
    expect(new Set(sink.calls.map(({ event }) => event.id)).size).toBe(60);
  });

  test('a replica that ends in the middle of a delivery: another gets the event', async () => {
    const { post, path, stats } = await start();
    const dying = await startTestSubscriber(() => new Promise(() => {}));
    path.setReplica('one-0', { port: dying.port });
    await post(testEvent('survivor'));
    await dying.received(1);
    await dying.stop();
    path.setReplica('one-0', undefined);
    const sink = await subscriber(() => ({ status: 204 }));
    path.setReplica('one-1', { port: sink.port });
    await eventually(async () => (await stats())?.delivered === 1);
    expect(sink.calls.map(({ event }) => event.id)).toEqual(['survivor']);
    expect(await stats()).toMatchObject({ retried: 1, deadLettered: 0 });
  });

  test('a reply that is an event is published, and a stop cuts deliveries down to the function', async () => {
    const { post, path, eventing } = await start({}, { drainMs: 0 });
    const reply = {
      'ce-specversion': '1.0',
      'ce-id': 'r',
      'ce-source': '/s',
      'ce-type': 'reply.v1',
    };
    const sink = await startTestSubscriber(({ event }) =>
      event.id === 'asks' ? { status: 200, headers: reply } : new Promise(() => {}),
    );
    onTestFinished(() => sink.stop());
    path.setReplica('one-0', { port: sink.port });
    await post(testEvent('asks'));
    await sink.received(2);
    expect(sink.calls[1]?.event.type).toBe('reply.v1');
    await eventing.stop();
    await sink.calls[1]?.hungUp;
    expect(path.inFlight).toBe(0);
  });

  test('a destination for which there is no other way is reached by HTTP', async () => {
    const { eventing, name, post } = await start({}, { drainMs: 0 });
    const sink = await subscriber(() => ({ status: 204 }));
    const delivery = {
      retry: 0,
      backoffPolicy: 'linear',
      backoffDelayMs: 1,
      maxBackoffMs: 1,
      timeoutMs: 5_000,
    } as const;
    await eventing.applyTrigger({
      name: 'other',
      broker: { namespace: 'tests', name },
      filter: {},
      subscriber: { uri: sink.url },
      maxInFlight: 1,
      delivery,
    });
    await post(testEvent('by-http'));
    await sink.received(1);
    expect(sink.calls[0]?.event.id).toBe('by-http');
  });
});
