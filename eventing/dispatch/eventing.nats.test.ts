import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventToBinary } from '../contracts/codec.ts';
import { eventually } from '../testing/eventually.ts';
import { gate } from '../testing/gate.ts';
import { natsForTests, startTestNats } from '../testing/nats-for-tests.ts';
import { startTestEventing, testEvent, testTrigger } from '../testing/test-eventing.ts';
import type { TestAnswer, TestCall, TestSubscriber } from '../testing/test-subscriber.ts';
import { startTestSubscriber } from '../testing/test-subscriber.ts';
import type { TriggerSpec } from './trigger-spec.ts';

const nats = await natsForTests();
const reason = nats.missing === undefined ? '' : ` (skipped: ${nats.missing})`;

describe.skipIf(nats.missing !== undefined)(`eventing on JetStream${reason}`, () => {
  let running: Awaited<ReturnType<typeof startTestNats>>;
  beforeAll(async () => {
    running = await startTestNats(nats);
  });
  afterAll(async () => {
    await running.remove();
  });

  const subscriber = async (
    answer: (call: TestCall) => TestAnswer | Promise<TestAnswer> = () => ({ status: 204 }),
  ): Promise<TestSubscriber> => {
    const started = await startTestSubscriber(answer);
    onTestFinished(() => started.stop());
    return started;
  };
  const start = async (
    triggers: readonly Partial<TriggerSpec>[],
    options: Parameters<typeof startTestEventing>[2] = {},
  ): ReturnType<typeof startTestEventing> => {
    const started = await startTestEventing(running.server.url, triggers, options);
    onTestFinished(() => started.eventing.stop());
    return started;
  };
  test('an event posted is answered 202 and arrives unchanged, with Knative headers', async () => {
    const sink = await subscriber();
    const { eventing, post } = await start([{ subscriber: { uri: sink.url } }]);
    const event = testEvent('a/1', {
      time: '2026-11-30T22:43:01.5Z',
      extensions: { tachointended: '1767225600000', partitionkey: 'Fahrzeug ü' },
    });
    expect(await post(event)).toBe(202);
    await sink.received(1);
    expect(sink.calls[0]?.event).toEqual(event);
    expect(sink.calls[0]?.headers).toMatchObject({ prefer: 'reply', 'kn-namespace': 'tests' });
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 1);
    expect(await eventing.stats()).toEqual({
      ingress: { accepted: 1, duplicates: 0, refused: 0 },
      triggers: {
        trigger: {
          delivered: 1,
          retried: 0,
          deadLettered: 0,
          dropped: 0,
          duplicates: 0,
          inFlight: 0,
          pending: 0,
        },
      },
    });
  });

  test('an id published again within the duplicate window is answered 202 and delivered once', async () => {
    const sink = await subscriber();
    const { eventing, post } = await start([{ subscriber: { uri: sink.url } }]);
    const statuses = await Promise.all(Array.from({ length: 20 }, () => post(testEvent('same'))));
    expect(new Set(statuses)).toEqual(new Set([202]));
    await post(testEvent('other'));
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 2);
    expect(sink.calls.map(({ event }) => event.id).sort()).toEqual(['other', 'same']);
    expect((await eventing.stats()).ingress).toMatchObject({ accepted: 21, duplicates: 19 });
  });

  test('a Trigger gets exactly the events whose attributes its filter names', async () => {
    const [byType, bySubject, all] = [await subscriber(), await subscriber(), await subscriber()];
    const { eventing, post } = await start([
      { name: 'type', filter: { type: 'a.b' }, subscriber: { uri: byType.url } },
      {
        name: 'subject',
        filter: { subject: 'Ü 1', type: 'a_b' },
        subscriber: { uri: bySubject.url },
      },
      { name: 'all', subscriber: { uri: all.url } },
    ]);
    // "a.b" and "a_b" share a subject of the stream; only the exact filter tells them apart.
    await post(testEvent('1', { type: 'a.b' }));
    await post(testEvent('2', { type: 'a_b', subject: 'Ü 1' }));
    await post(testEvent('3', { type: 'a_b', subject: 'other' }));
    await post(testEvent('4', { type: 'c' }));
    await all.received(4);
    await eventually(async () => {
      const { triggers } = await eventing.stats();
      return Object.values(triggers).every(({ pending, inFlight }) => pending + inFlight === 0);
    });
    expect(byType.calls.map(({ event }) => event.id)).toEqual(['1']);
    expect(bySubject.calls.map(({ event }) => event.id)).toEqual(['2']);
  });

  test('a subscriber that fails twice gets the event a third time, and it is done', async () => {
    const sink = await subscriber(({ index }) => ({ status: [503, 500, 202][index] ?? 204 }));
    const { eventing, post } = await start([{ subscriber: { uri: sink.url } }]);
    await post(testEvent('flaky'));
    await sink.received(3);
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 1);
    expect((await eventing.stats()).triggers['trigger']).toMatchObject({
      retried: 2,
      deadLettered: 0,
      duplicates: 0,
    });
  });

  test('an event whose retries are used up reaches the dead letter sink with the reason', async () => {
    const sink = await subscriber(() => ({ status: 503, body: 'no\nstore ☃' }));
    const parked = await subscriber();
    const { eventing, post } = await start([
      {
        subscriber: { uri: sink.url },
        delivery: { ...testTrigger('', {}).delivery, deadLetterSink: { uri: parked.url } },
      },
    ]);
    await post(testEvent('doomed', { extensions: { traceparent: '00-1-2-03' } }));
    await parked.received(1);
    expect(sink.calls).toHaveLength(4);
    expect(parked.calls[0]?.event).toEqual(
      testEvent('doomed', {
        extensions: {
          traceparent: '00-1-2-03',
          knativeerrordest: sink.url,
          knativeerrorcode: '503',
          knativeerrordata: Buffer.from('nostore ').toString('base64'),
        },
      }),
    );
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.deadLettered === 1);
    expect((await eventing.stats()).triggers['trigger']?.pending).toBe(0);
  });

  test('a 4xx goes to the dead letter sink at once', async () => {
    const sink = await subscriber(() => ({ status: 400 }));
    const parked = await subscriber();
    const { post } = await start([
      {
        subscriber: { uri: sink.url },
        delivery: { ...testTrigger('', {}).delivery, deadLetterSink: { uri: parked.url } },
      },
    ]);
    await post(testEvent('poison'));
    await parked.received(1);
    expect(sink.calls).toHaveLength(1);
    expect(parked.calls[0]?.event.extensions['knativeerrorcode']).toBe('400');
  });

  test('a dead letter sink that is down gets the event when it is up again', async () => {
    const sink = await subscriber(() => ({ status: 400 }));
    const parked = await subscriber(({ index }) => ({ status: index < 2 ? 503 : 204 }));
    const { eventing, post } = await start([
      {
        subscriber: { uri: sink.url },
        delivery: { ...testTrigger('', {}).delivery, deadLetterSink: { uri: parked.url } },
      },
    ]);
    await post(testEvent('poison'));
    await parked.received(3);
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.deadLettered === 1);
  });

  test('without a dead letter sink an event that cannot be delivered is counted as dropped', async () => {
    const sink = await subscriber(() => ({ status: 404 }));
    const { eventing, post } = await start([{ subscriber: { uri: sink.url } }]);
    await post(testEvent('poison'));
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.dropped === 1);
  });

  test('no more deliveries are under way than maxInFlight, and all events arrive', async () => {
    const { opened, open } = gate();
    const sink = await subscriber(async () => {
      await opened;
      return { status: 204 };
    });
    const { eventing, post } = await start([{ maxInFlight: 3, subscriber: { uri: sink.url } }]);
    await Promise.all(Array.from({ length: 30 }, (_, index) => post(testEvent(`e${index}`))));
    await sink.received(3);
    const { triggers } = await eventing.stats();
    expect(triggers['trigger']).toMatchObject({ inFlight: 3, pending: 27 });
    open();
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 30);
    expect(sink.mostOpen()).toBe(3);
    expect(sink.calls).toHaveLength(30);
  });

  test('events that wait for a retry do not hold up the others', async () => {
    const sink = await subscriber(({ event }) => ({
      status: event.id.startsWith('bad') ? 503 : 204,
    }));
    const { eventing, post } = await start([
      {
        maxInFlight: 1,
        subscriber: { uri: sink.url },
        // Far longer than the test: the bad ones fail once and wait.
        delivery: { ...testTrigger('', {}).delivery, backoffDelayMs: 60_000, maxBackoffMs: 60_000 },
      },
    ]);
    for (let index = 0; index < 10; index++) await post(testEvent(`bad${index}`));
    await post(testEvent('good'));
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 1);
    expect((await eventing.stats()).triggers['trigger']).toMatchObject({
      retried: 10,
      pending: 10,
    });
  });

  test('a delivery that takes longer than the time-out is cut off and repeated', async () => {
    const { opened } = gate();
    const sink = await subscriber(async ({ index }) => {
      if (index === 0) await opened;
      return { status: 204 };
    });
    const { eventing, post } = await start([
      {
        subscriber: { uri: sink.url },
        delivery: { ...testTrigger('', {}).delivery, timeoutMs: 50 },
      },
    ]);
    await post(testEvent('late'));
    await sink.received(2);
    await sink.calls[0]?.hungUp;
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 1);
    expect((await eventing.stats()).triggers['trigger']?.retried).toBe(1);
  });

  test('events for a subscriber that is down arrive when it is up', async () => {
    const first = await startTestSubscriber(() => ({ status: 204 }));
    await first.stop();
    const { eventing, post } = await start([
      {
        subscriber: { uri: first.url },
        delivery: { ...testTrigger('', {}).delivery, retry: 1_000 },
      },
    ]);
    await Promise.all(Array.from({ length: 10 }, (_, index) => post(testEvent(`e${index}`))));
    await eventually(async () => ((await eventing.stats()).triggers['trigger']?.retried ?? 0) > 10);
    const second = await startTestSubscriber(() => ({ status: 204 }), first.port);
    onTestFinished(() => second.stop());
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 10);
    expect(new Set(second.calls.map(({ event }) => event.id)).size).toBe(10);
  });

  test('a reply that is an event goes back into the Broker before the cause is done', async () => {
    const reply = eventToBinary(testEvent('answer', { type: 'test.answered.v1' }));
    const asked = await subscriber(() => ({ status: 200, ...reply }));
    const sink = await subscriber();
    const { eventing, post } = await start([
      {
        name: 'ask',
        filter: { type: 'test.happened.v1' },
        subscriber: { uri: asked.url },
      },
      { name: 'hear', filter: { type: 'test.answered.v1' }, subscriber: { uri: sink.url } },
    ]);
    await post(testEvent('question'));
    await sink.received(1);
    expect(sink.calls[0]?.event.id).toBe('answer');
    await eventually(async () => (await eventing.stats()).triggers['ask']?.delivered === 1);
  });

  test.each([
    ['a 200 with a body that is no event', { status: 200, body: 'ok' }],
    ['a reply that is no valid event', { status: 200, headers: { 'ce-specversion': '1.0' } }],
    ['a reply above the size limit', { status: 200, body: new Uint8Array(256 * 1024 + 1) }],
  ])('%s is an error and is retried', async (_, answer) => {
    const sink = await subscriber(({ index }) => (index === 0 ? answer : { status: 204 }));
    const { eventing, post } = await start([{ subscriber: { uri: sink.url } }]);
    await post(testEvent('odd'));
    await sink.received(2);
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 1);
  });

  test('stop lets deliveries end, and gives back what did not for the next start', async () => {
    const { opened, open } = gate();
    const sink = await subscriber(async ({ event, hungUp }) => {
      await (event.id === 'quick' ? opened : hungUp);
      return { status: 204 };
    });
    const trigger = { maxInFlight: 2, subscriber: { uri: sink.url } };
    const first = await startTestEventing(running.server.url, [trigger], { drainMs: 300 });
    await first.post(testEvent('quick'));
    await first.post(testEvent('stuck'));
    await sink.received(2);
    await first.post(testEvent('waiting'));
    const stopped = first.eventing.stop();
    open();
    await stopped;
    expect(sink.calls.map(({ event }) => event.id).sort()).toEqual(['quick', 'stuck']);

    const again = await subscriber();
    await start([{ ...trigger, subscriber: { uri: again.url } }], { brokerName: first.name });
    await again.received(2);
    expect(again.calls.map(({ event }) => event.id).sort()).toEqual(['stuck', 'waiting']);
  });

  test('applyTrigger replaces a Trigger in place, removeTrigger ends it', async () => {
    const [before, after] = [await subscriber(), await subscriber()];
    const { eventing, post, name } = await start([{ subscriber: { uri: before.url } }]);
    await post(testEvent('1'));
    await before.received(1);
    await eventing.applyTrigger(testTrigger(name, { subscriber: { uri: after.url } }));
    await post(testEvent('2'));
    await after.received(1);
    await eventing.removeTrigger('trigger');
    await eventing.removeTrigger('trigger');
    await post(testEvent('3'));
    expect((await eventing.stats()).triggers).toEqual({});
    await eventing.applyTrigger(testTrigger(name, { subscriber: { uri: after.url } }));
    await post(testEvent('4'));
    await after.received(2);
    expect(before.calls.map(({ event }) => event.id)).toEqual(['1']);
    expect(after.calls.map(({ event }) => event.id)).toEqual(['2', '4']);
  });

  test('applyTrigger of a Trigger for another Broker is refused', async () => {
    const { eventing } = await start([]);
    await expect(eventing.applyTrigger(testTrigger('elsewhere', {}))).rejects.toMatchObject({
      code: 'BROKER_UNKNOWN',
    });
  });

  test('a full stream refuses new events with 503 and keeps the old ones', async () => {
    const { opened, open } = gate();
    const sink = await subscriber(async () => {
      await opened;
      return { status: 204 };
    });
    const { post } = await start([{ maxInFlight: 1, subscriber: { uri: sink.url } }], {
      limits: { maxBytes: 600_000 },
    });
    const large = (id: string): Promise<number> =>
      post(testEvent(id, { data: Buffer.alloc(200_000, '1') }));
    expect([await large('1'), await large('2'), await large('3')]).toEqual([202, 202, 503]);
    open();
    await sink.received(2);
    expect(sink.calls.map(({ event }) => event.id)).toEqual(['1', '2']);
  });
});
