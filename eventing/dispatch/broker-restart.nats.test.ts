import { silentLog } from '#kernel/system/log.ts';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { JetStreamBroker } from '../broker/jetstream-broker.ts';
import { eventToBinary } from '../contracts/codec.ts';
import { eventually } from '../testing/eventually.ts';
import { gate } from '../testing/gate.ts';
import { natsForTests, startTestNats } from '../testing/nats-for-tests.ts';
import { startTestEventing, testEvent } from '../testing/test-eventing.ts';
import { startTestSubscriber } from '../testing/test-subscriber.ts';

const nats = await natsForTests();
const reason = nats.missing === undefined ? '' : ` (skipped: ${nats.missing})`;

describe.skipIf(nats.missing !== undefined)(`eventing, its broker and time${reason}`, () => {
  test('a handler slower than the acknowledgement deadline is not called twice', async () => {
    const { server, remove } = await startTestNats(nats);
    onTestFinished(remove);
    const { opened, open } = gate();
    const sink = await startTestSubscriber(async () => {
      await opened;
      return { status: 204 };
    });
    onTestFinished(() => sink.stop());
    const ackWaitMs = 300;
    const { eventing, post, name } = await startTestEventing(
      server.url,
      [{ subscriber: { uri: sink.url } }],
      { ackWaitMs },
    );
    onTestFinished(() => eventing.stop());
    // A consumer that never answers shows when the deadline has passed: it gets the event again.
    const witness = await JetStreamBroker.connect(server.url, silentLog);
    onTestFinished(() => witness.close());
    let attempts = 0;
    const options = { trigger: 'witness', type: undefined, maxUnsettled: 10, ackWaitMs };
    await witness.subscribe({ namespace: 'tests', name }, options, ({ attempt }) => {
      attempts = attempt;
    });
    await post(testEvent('slow'));
    await eventually(() => attempts === 4);
    open();
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 1);
    expect(sink.calls).toHaveLength(1);
    expect((await eventing.stats()).triggers['trigger']?.duplicates).toBe(0);
  });

  test('a killed nats-server: 503 while it is away, nothing acknowledged is lost', async () => {
    const own = await startTestNats(nats);
    onTestFinished(own.remove);
    const { opened, open } = gate();
    const sink = await startTestSubscriber(async () => {
      await opened;
      return { status: 204 };
    });
    onTestFinished(() => sink.stop());
    // An acknowledgement or a delivery may die with the connection: the deadline makes up for it.
    const { eventing, post } = await startTestEventing(
      own.server.url,
      [{ maxInFlight: 2, subscriber: { uri: sink.url } }],
      { ackWaitMs: 1_000 },
    );
    onTestFinished(() => eventing.stop());
    const ids = Array.from({ length: 20 }, (_, index) => `e${index}`);
    for (const id of ids) expect(await post(testEvent(id))).toBe(202);
    await sink.received(2);

    process.kill(own.server.pid, 'SIGKILL');
    expect(await own.server.exited).toMatchObject({ asked: false });
    await eventually(async () => (await post(testEvent('refused'))) === 503);
    open();

    const { storeDir } = own;
    const again = await startTestNats(nats, { storeDir, port: own.server.port });
    onTestFinished(again.remove);
    await eventually(async () => (await post(testEvent('after'))) === 202);
    await eventually(() => new Set(sink.calls.map(({ event }) => event.id)).size === 21);
    expect(sink.calls.map(({ event }) => event.id)).toEqual(
      expect.arrayContaining([...ids, 'after']),
    );
  });

  test('Retry-After comes with the 503 of an ingress whose broker is away', async () => {
    const own = await startTestNats(nats);
    onTestFinished(own.remove);
    const { eventing, name } = await startTestEventing(own.server.url, []);
    onTestFinished(() => eventing.stop());
    await own.server.stop();
    const url = `${eventing.ingressUrl}/tests/${name}`;
    await eventually(async () => {
      const answer = await request(url, { method: 'POST', ...eventToBinary(testEvent('1')) });
      await answer.body.dump();
      return answer.statusCode === 503 && answer.headers['retry-after'] === '1';
    });
  });
});
