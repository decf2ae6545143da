import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fakeSpan } from '#kernel/telemetry/testing/fake-span.ts';
import { ProviderBench } from './testing/provider-bench.ts';
import { receipt } from './testing/receipts.ts';

const end = (seq: number) => ({ ...receipt(seq), end: true });
const session = (count: number) =>
  Array.from({ length: count }, (_, seq) => (seq === count - 1 ? end(seq) : receipt(seq)));

async function bench(replicas = 1): Promise<ProviderBench> {
  const made = new ProviderBench(replicas);
  await made.addCampaign();
  return made;
}

test('handle of batches in order closes each window with its own batch', async () => {
  const b = await bench();
  for (const one of session(3)) expect(await b.arrive(one)).toEqual({ kind: 'done' });
  expect(await b.newestSets()).toEqual({ 0: [0], 1: [0, 1], 2: [1, 2] });
  expect(b.emittedIds).toEqual([
    'data-provider/v1/s1/00000000/0001',
    'data-provider/v1/s1/00000001/0001',
    'data-provider/v1/s1/00000002/0001',
    'data-provider/v1/s1/0001',
  ]);
  const [closed] = await b.sessions();
  expect(closed).toMatchObject({ reason: 'endMark', batches: 3, frames: 30, gaps: [] });
});

test('handle of a batch after a missing one waits for the missing one', async () => {
  const b = await bench();
  await b.arrive(receipt(0));
  await b.arrive(receipt(2));
  expect(Object.keys(await b.newestSets())).toEqual(['0']);
  await b.arrive(receipt(1));
  expect(await b.newestSets()).toEqual({ 0: [0], 1: [0, 1], 2: [1, 2] });
});

test('handle after the grace time closes the windows behind a gap and names the gap', async () => {
  const b = await bench();
  await b.arrive(receipt(0));
  await b.arrive(receipt(2));
  await b.clock.advance(2_000 + 29_999);
  await b.tick('tick-1');
  expect(Object.keys(await b.newestSets())).toEqual(['0']);
  await b.clock.advance(1);
  await b.tick('tick-2');
  const windows = await b.windows();
  expect(windows.at(-1)).toMatchObject({
    window: 2,
    reason: 'grace',
    gaps: [{ firstSeq: 1, lastSeq: 1 }],
    closedBy: 'tick-2',
  });
});

test('handle of a batch past the grace time makes new revisions of what it changes only', async () => {
  const b = await bench();
  await b.arrive(receipt(0));
  await b.arrive(receipt(2));
  await b.arrive(receipt(3));
  await b.clock.advance(60_000);
  await b.tick('tick-1');
  await b.arrive(receipt(1));
  const revisions = (await b.windows()).map((w) => [w.window, w.revision, w.seqs]);
  expect(revisions).toEqual([
    [0, 1, [0]],
    [1, 1, [0, 1]],
    [2, 1, [2]],
    [2, 2, [1, 2]],
    [3, 1, [2, 3]],
  ]);
});

test('handle of a duplicate event makes no fact and repeats only what that event closed', async () => {
  const b = await bench();
  const batches = session(3);
  for (const one of batches) await b.arrive(one);
  const [windows, emitted] = [(await b.windows()).length, b.emitted.length];
  const second = batches[1];
  if (second !== undefined) await b.handle(b.stored(second));
  expect((await b.windows()).length).toBe(windows);
  expect(b.emittedIds.slice(emitted)).toEqual(['data-provider/v1/s1/00000001/0001']);
});

test('a window of several batches links to the traces of those whose event did not close it', async () => {
  const b = await bench();
  const trace = (digit: string) => `00-${digit.repeat(32)}-${'c'.repeat(16)}-01`;
  const short = (seq: number) => ({
    ...receipt(seq),
    fromUs: seq * 500_000,
    untilUs: (seq + 1) * 500_000,
    trace: trace(String(seq + 1)),
  });
  await b.arrive(short(0));
  await b.clock.advance(500);
  const span = fakeSpan(trace('2'));
  b.span = span;
  await b.arrive(short(1));
  expect(await b.newestSets()).toMatchObject({ 0: [0, 1] });
  const links = span.told.filter((line) => line.startsWith('link'));
  expect(links).toEqual([
    `link ${trace('1')} ${JSON.stringify({
      'tachograph.vehicle': 'v1',
      'tachograph.session': 's1',
      'tachograph.seq': 0,
      'tachograph.window': 0,
      'tachograph.window.wait_ms': 500,
    })}`,
  ]);
});

test('tick gives up a silent session without end mark after abandonAfterMs', async () => {
  const b = await bench();
  await b.arrive(receipt(0));
  await b.clock.advance(599_999);
  await b.tick('tick-1');
  expect(await b.sessions()).toEqual([]);
  await b.clock.advance(1);
  await b.tick('tick-2');
  expect(await b.sessions()).toMatchObject([{ reason: 'abandoned', closedBy: 'tick-2' }]);
});

test('tick that failed announces at its repeat what it had closed', async () => {
  const b = await bench();
  await b.arrive(receipt(0));
  await b.clock.advance(600_000);
  b.failEmission = 1;
  await expect(b.tick('tick-1')).rejects.toThrow('no broker');
  await b.tick('tick-1');
  expect(b.emittedIds).toContain('data-provider/v1/s1/0001');
});

test('handle of late data closes an abandoned session again, one revision up', async () => {
  const b = await bench();
  await b.arrive(receipt(0));
  await b.clock.advance(600_000);
  await b.tick('tick-1');
  await b.arrive(receipt(1));
  expect((await b.sessions()).map((s) => [s.revision, s.batches])).toEqual([
    [1, 1],
    [2, 2],
  ]);
});

test('handle of an event whose receipt is not there asks to try again', async () => {
  const b = await bench();
  expect(await b.handle(b.stored(receipt(0)))).toMatchObject({ kind: 'retry' });
});

test('handle of a batch of an unknown campaign version parks', async () => {
  const b = new ProviderBench();
  const outcome = await b.arrive(receipt(0));
  expect(outcome).toMatchObject({ kind: 'parked', reason: 'campaignMissing' });
});

test('handle that closes more than 500 windows goes on at the next delivery', async () => {
  const b = await bench();
  const long = { ...receipt(0), untilUs: 1_000_000_000, end: true };
  expect(await b.arrive(long)).toMatchObject({ kind: 'retry' });
  expect((await b.windows()).length).toBe(500);
  expect(await b.handle(b.stored(long))).toEqual({ kind: 'done' });
  expect((await b.windows()).length).toBe(1_000);
});

test('any order, duplicates, failing emissions and restarts end in the orderly windows', async () => {
  const count = 8;
  const orderly = await bench();
  for (const one of session(count)) await orderly.arrive(one);
  const expected = await orderly.newestSets();
  const step = fc.record({
    seq: fc.nat(count - 1),
    fail: fc.nat(3),
    restart: fc.boolean(),
    replica: fc.nat(1),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
      fc.array(step, { maxLength: 12 }),
      async (order, noise) => {
        const b = await bench(2);
        const batches = session(count);
        const pending: { seq: number; replica: number }[] = [];
        const deliver = async (seq: number, replica: number): Promise<void> => {
          const one = batches[seq];
          if (one === undefined) return;
          await b.addReceipt(one);
          try {
            const outcome = await b.handle(b.stored(one), replica);
            if (outcome.kind !== 'done') pending.push({ seq, replica: 1 - replica });
          } catch {
            pending.push({ seq, replica: 1 - replica });
          }
        };
        for (const [index, seq] of order.entries()) {
          const disturbance = noise[index];
          b.failEmission = disturbance?.fail ?? 0;
          if (disturbance?.restart === true) b.restart();
          await deliver(seq, disturbance?.replica ?? 0);
          if (disturbance !== undefined && order.slice(0, index).includes(disturbance.seq)) {
            await deliver(disturbance.seq, disturbance.replica);
          }
        }
        b.failEmission = 0;
        for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
          await deliver(next.seq, next.replica);
        }
        expect(await b.newestSets()).toEqual(expected);
        const newest = new Map((await b.windows()).map((w) => [w.window, w.revision]));
        for (const [window, revision] of newest) {
          const id = `${String(window).padStart(8, '0')}/${String(revision).padStart(4, '0')}`;
          expect(b.emittedIds).toContain(`data-provider/v1/s1/${id}`);
        }
        const closed = (await b.sessions()).at(-1);
        expect(closed).toMatchObject({ batches: count, frames: 10 * count, gaps: [] });
        expect(b.emittedIds).toContain(`data-provider/v1/s1/000${closed?.revision}`);
        // Closing again with nothing new makes no revision, also for a process that starts cold.
        b.restart();
        for (const one of batches) await b.handle(b.stored(one));
        expect((await b.sessions()).length).toBe(closed?.revision);
      },
    ),
    { numRuns: 200 },
  );
});
