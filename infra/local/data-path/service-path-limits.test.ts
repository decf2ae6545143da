import { afterEach, expect, test } from 'vitest';
import { randomStream } from '#kernel/core/random.ts';
import { until } from '#infra/local/testing/processes.ts';
import { closeGateways, openPath, servers } from './testing/gateways.ts';
import { ending, get, heldStage, listen, post, sendOn } from './testing/stages.ts';

afterEach(closeGateways);

test('ServicePath ends a request after its time-out: 504 at work with its connection closed, 503 waiting', async () => {
  const { path, clock } = openPath({ containerConcurrency: 1, timeoutMs: 1_000 });
  const stage = await heldStage();
  path.setReplica('one-0', stage);
  const first = sendOn(path, get('/first'));
  await until(() => stage.begun.length === 1);
  await clock.advance(400);
  const second = sendOn(path, get('/second'));
  await clock.advance(500);
  await stage.finish();
  await until(() => first.heard.includes('end') && stage.begun.length === 2);
  await clock.advance(499);
  expect(second.heard).toEqual([]);
  // The wait counted: 1,000 ms since its arrival.
  await clock.advance(1);
  expect(second.heard).toEqual(['error SERVICE_TIMEOUT']);
  await until(() => stage.cut.includes('/second'));
  const cold = openPath({ timeoutMs: 1_000 });
  const waiting = sendOn(cold.path, get('/'));
  await cold.clock.advance(1_000);
  expect(waiting.heard).toEqual(['error SERVICE_STARTING']);
});

test('ServicePath does not start requests whose time is over just because others time out', async () => {
  const { path, clock } = openPath({ containerConcurrency: 1, timeoutMs: 1_000 });
  const stage = await heldStage();
  path.setReplica('one-0', stage);
  const sent = Array.from({ length: 20 }, (_, index) => sendOn(path, get(`/${index}`)));
  await until(() => stage.begun.length === 1);
  await clock.advance(1_000);
  expect(sent.map(({ heard }) => heard.join())).toEqual([
    'error SERVICE_TIMEOUT',
    ...Array<string>(19).fill('error SERVICE_BUSY'),
  ]);
  await until(() => stage.cut.length === 1);
  const next = ending(path.request(get('/next')));
  await stage.finish();
  expect(await next).toBe('200 /next');
  expect(stage.begun).toEqual(['/0', '/next']);
});

test('ServicePath cuts an answer that is not complete in time', async () => {
  const { path, clock } = openPath({ timeoutMs: 1_000 });
  const socketPath = await listen((_, response) => response.write('half'));
  path.setReplica('one-0', { socketPath });
  const { heard } = sendOn(path, get('/'));
  await until(() => heard.length === 2);
  await clock.advance(1_000);
  expect(heard).toEqual(['head 200', 'data half', 'error SERVICE_TIMEOUT']);
});

test.each(['proxy', 'serve'] as const)(
  'ServicePath in `%s` takes a cancelled request out wherever it is, down to the function',
  async (mode) => {
    const { path } = openPath({ containerConcurrency: 1 });
    const stage = await heldStage();
    path.setReplica('one-0', stage);
    path.setPath(mode);
    const [atWork, waiting, last] = ['/1', '/2', '/3'].map((name) => sendOn(path, get(name)));
    await until(() => stage.begun.length === 1);
    waiting?.cancel();
    expect([path.queued, path.inFlight]).toEqual([1, 1]);
    atWork?.cancel();
    atWork?.cancel();
    await until(() => stage.cut.length === 1 && stage.begun.length === 2);
    expect(stage.begun).toEqual(['/1', '/3']);
    await stage.finish();
    await until(() => last?.heard.includes('end') ?? false);
    expect([atWork?.heard, waiting?.heard]).toEqual([[], []]);
    expect([path.queued, path.inFlight]).toEqual([0, 0]);
  },
);

test('ServicePath drains a replica: nothing new, and an end when its requests have theirs', async () => {
  const { path } = openPath({ containerConcurrency: 1 });
  const [old, young] = [await heldStage(), await heldStage()];
  path.setReplica('one-0', old);
  path.setReplica('one-1', young);
  const first = sendOn(path, get('/1'));
  await until(() => old.begun.length === 1);
  let drained = false;
  const draining = path.drainReplica('one-0').then(() => (drained = true));
  expect(path.ready).toBe(1);
  sendOn(path, get('/2'));
  expect(drained).toBe(false);
  await old.finish();
  await draining;
  expect(first.heard).toContain('end');
  await until(() => young.begun.length === 1);
  await path.drainReplica('one-7');
});

test('ServicePath ends a drain when the replica goes, whatever it still had', async () => {
  const { path } = openPath({ containerConcurrency: 1 });
  const stage = await heldStage();
  path.setReplica('one-0', stage);
  sendOn(path, get('/1'));
  const draining = path.drainReplica('one-0');
  path.setReplica('one-0', undefined);
  await draining;
  expect(path.ready).toBe(0);
});

test('ServicePath counts the requests of a draining replica against its capacity, as upstream', async () => {
  const { path } = openPath({ containerConcurrency: 1 });
  const [old, young] = [await heldStage(), await heldStage()];
  path.setReplica('one-0', old);
  path.setReplica('one-1', young);
  for (const name of ['/1', '/2', '/3']) sendOn(path, get(name));
  await until(() => old.begun.length === 1 && young.begun.length === 1);
  void path.drainReplica('one-0');
  await young.finish();
  await until(() => path.inFlight === 1);
  expect(path.queued).toBe(1);
  await old.finish();
  await until(() => young.begun.length === 2);
});

test('ServicePath sends what waits at a replica that goes to another one', async () => {
  const { path } = openPath({ containerConcurrency: 1 });
  const [gone, other] = [await heldStage(), await heldStage()];
  path.setReplica('one-0', gone);
  path.setPath('serve');
  const [, waiting] = ['/1', '/2'].map((name) => sendOn(path, get(name)));
  expect(path.figures().perReplica).toEqual([{ replica: 'one-0', inFlight: 1, queued: 1 }]);
  path.setReplica('one-1', other);
  path.setReplica('one-0', undefined);
  await other.finish();
  await until(() => waiting?.heard.includes('end') ?? false);
  expect(other.begun).toEqual(['/2']);
});

test('ServicePath drops a replica whose socket is gone, and holds the request for another', async () => {
  const { path } = openPath();
  const socketPath = await listen((_, response) => response.end('served'));
  path.setReplica('one-0', { socketPath: `${socketPath}.gone` });
  const answer = ending(path.request(post('/')));
  await until(() => path.ready === 0 && path.queued === 1);
  path.setReplica('one-1', { socketPath });
  expect(await answer).toBe('200 served');
});

test('ServicePath drops a replica whose process ended and left its socket behind', async () => {
  const { path } = openPath();
  const socketPath = await listen(() => {});
  await new Promise<unknown>((resolve) => servers.pop()?.close(resolve));
  path.setReplica('one-0', { socketPath });
  sendOn(path, post('/'));
  await until(() => path.ready === 0 && path.queued === 1);
});

test('ServicePath gives every request one ending and nothing away, whatever comes and goes', async () => {
  const { path } = openPath({ containerConcurrency: 2, timeoutMs: 60_000 });
  const random = randomStream(7, 'stress');
  const socketPath = await listen((_, response) => {
    // A few answers at once, a few a turn later, a few never begun.
    const turn = random.below(10);
    if (turn === 0) response.destroy();
    else if (turn < 5) response.end('now');
    else setImmediate(() => response.end('soon'));
  });
  const endings: number[] = [];
  const cancelled = new Set<number>();
  for (let index = 0; index < 600; index++) {
    const name = `one-${random.below(4)}`;
    const act = random.below(10);
    if (act === 0) path.setReplica(name, { socketPath });
    if (act === 1) path.setReplica(name, undefined);
    if (act === 2) void path.drainReplica(name);
    if (act === 3) path.setPath(random.below(2) === 0 ? 'serve' : 'proxy');
    endings[index] = 0;
    const end = (): void => {
      endings[index] = (endings[index] ?? 0) + 1;
    };
    const sink = { onHead: () => {}, onData: () => {}, onEnd: end, onError: end };
    const cancel = path.dispatch(random.below(2) === 0 ? get('/') : post('/'), sink);
    if (random.below(5) === 0 && endings[index] === 0) {
      cancelled.add(index);
      cancel();
    }
    if (act > 6) await new Promise((resolve) => setImmediate(resolve));
  }
  path.setReplica('one-9', { socketPath });
  await until(() => path.queued + path.inFlight === 0);
  const wrong = endings.findIndex((count, index) => count !== (cancelled.has(index) ? 0 : 1));
  expect(wrong).toBe(-1);
  const figures = path.figures();
  expect(figures.offered).toBe(600);
  path.figures();
  expect(path.figures().averageConcurrency).toBe(0);
});

test('ServicePath serves ten thousand requests that came at once by three replicas of one place', async () => {
  const { path } = openPath({ containerConcurrency: 1, timeoutMs: 60_000 });
  const numbers = Array.from({ length: 10_000 }, (_, index) => index);
  const answers = numbers.map((index) => path.request(get(`/${index}`)));
  expect(path.queued).toBe(10_000);
  const held: (() => void)[] = [];
  let mostOpen = 0;
  let answered = 0;
  const socketPath = await listen((incoming, response) => {
    held.push(() => response.end(incoming.url));
    mostOpen = Math.max(mostOpen, held.length);
    // Each waits until three are at work together; the very last one has nobody to wait for.
    if (held.length < 3 && answered + held.length < 10_000) return;
    answered += held.length;
    for (const answer of held.splice(0)) answer();
  });
  for (const replica of ['one-0', 'one-1', 'one-2']) path.setReplica(replica, { socketPath });
  const bodies = (await Promise.all(answers)).map(({ body }) => body.toString());
  expect(bodies).toEqual(numbers.map((index) => `/${index}`));
  expect(mostOpen).toBe(3);
  expect([path.queued, path.inFlight]).toEqual([0, 0]);
});
