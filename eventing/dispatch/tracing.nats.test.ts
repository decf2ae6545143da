import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventToBinary } from '../contracts/codec.ts';
import { eventually } from '../testing/eventually.ts';
import { natsForTests, startTestNats } from '../testing/nats-for-tests.ts';
import { startTestEventing, testEvent } from '../testing/test-eventing.ts';
import { startTestSubscriber } from '../testing/test-subscriber.ts';
import type { DeliveryStart, DeliveryTracing } from './delivery-tracing.ts';
import { HopNotes } from './hop-notes.ts';

const nats = await natsForTests();
const reason = nats.missing === undefined ? '' : ` (skipped: ${nats.missing})`;

describe.skipIf(nats.missing !== undefined)(`traces on JetStream${reason}`, () => {
  let running: Awaited<ReturnType<typeof startTestNats>>;
  beforeAll(async () => {
    running = await startTestNats(nats);
  });
  afterAll(async () => {
    await running.remove();
  });

  test('the trace of an event goes through the stream, in whatever of its places it stands', async () => {
    const begun: DeliveryStart[] = [];
    const ends: string[] = [];
    const tracing: DeliveryTracing = {
      begin: (start) => {
        begun.push(start);
        const headers = { traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01` };
        const hop = new HopNotes((ms) => ms);
        return { headers, hop, end: (result, end) => void ends.push(`${result.kind} ${end}`) };
      },
    };
    const sink = await startTestSubscriber(({ index }) => ({ status: index === 0 ? 503 : 204 }));
    onTestFinished(() => sink.stop());
    const started = await startTestEventing(
      running.server.url,
      [{ subscriber: { uri: sink.url } }],
      { tracing },
    );
    const { eventing, post, name } = started;
    onTestFinished(() => eventing.stop());
    const place = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const fromMs = Date.now() - 1_000;
    await post(testEvent('extension', { extensions: { traceparent: place, tracestate: 'v=1' } }));
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 1);
    // A broker before this one has blanked it.
    const url = `${eventing.ingressUrl}/tests/${name}`;
    const send = async (id: string, more: Record<string, string>): Promise<number> => {
      const { headers, body } = eventToBinary(testEvent(id));
      const all = { ...headers, ...more };
      return (await fetch(url, { method: 'POST', headers: all, body: Buffer.from(body) })).status;
    };
    expect(await send('origin', { 'ce-traceparent': '', 'ce-tachotrace': place })).toBe(202);
    expect(await send('header', { traceparent: place })).toBe(202);
    await eventually(async () => (await eventing.stats()).triggers['trigger']?.delivered === 3);
    expect(begun.map(({ delivery }) => delivery.trace['traceparent'])).toEqual([
      place,
      place,
      place,
      place,
    ]);
    expect(begun[0]?.delivery.trace['tracestate']).toBe('v=1');
    // A redelivery is an attempt of its own.
    expect(begun.map(({ delivery }) => [delivery.headers['ce-id'], delivery.attempt])).toEqual([
      ['extension', 1],
      ['extension', 2],
      ['origin', 1],
      ['header', 1],
    ]);
    expect(ends).toEqual(['answer retry', 'answer ack', 'answer ack', 'answer ack']);
    for (const { delivery } of begun) {
      expect(delivery.storedMs).toBeGreaterThan(fromMs);
      expect(delivery.storedMs).toBeLessThan(Date.now() + 1_000);
    }
    // The receiver continues the delivery, the event says what it said, and when it was sent stands there.
    const [first] = sink.calls;
    expect(first?.headers['traceparent']).toBe(`00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`);
    expect(first?.event.extensions['traceparent']).toBe(place);
    expect(first?.headers['x-request-start']).toMatch(/^t=\d+\.\d{6}$/);
  });
});
