import { afterEach, expect, test } from 'vitest';
import { until } from '#infra/local/testing/processes.ts';
import { closeGateways, openPath } from './testing/gateways.ts';
import { ending, get, heldStage, listen, post, sendOn } from './testing/stages.ts';

afterEach(closeGateways);

test('ServicePath holds requests while no replica is ready, then serves them in order of arrival', async () => {
  const { path } = openPath({ containerConcurrency: 1 });
  path.setPath('serve');
  const stage = await heldStage();
  const sent = ['/1', '/2', '/3'].map((name) => sendOn(path, get(name)));
  expect([path.queued, path.inFlight]).toEqual([3, 0]);
  path.setReplica('one-0', stage);
  for (const { heard } of sent) {
    await stage.finish();
    await until(() => heard.includes('end'));
  }
  expect(stage.begun).toEqual(['/1', '/2', '/3']);
  expect(sent[2]?.heard).toEqual(['head 200', 'data /3', 'end']);
  expect([path.queued, path.inFlight]).toEqual([0, 0]);
});

test('ServicePath in `proxy` fills the oldest replica first, to its container concurrency', async () => {
  const { path } = openPath({ containerConcurrency: 2 });
  const [old, young] = [await heldStage(), await heldStage()];
  path.setReplica('one-9', old);
  path.setReplica('one-10', young);
  for (const name of ['/1', '/2', '/3']) sendOn(path, get(name));
  await until(() => old.begun.length + young.begun.length === 3);
  expect([old.begun.length, young.begun.length]).toEqual([2, 1]);
});

test('ServicePath in `proxy` goes round replicas of more than three places', async () => {
  const { path } = openPath({ containerConcurrency: 4 });
  const stages = [await heldStage(), await heldStage()];
  for (const [index, stage] of stages.entries()) path.setReplica(`one-${index}`, stage);
  for (const name of ['/1', '/2', '/3', '/4']) sendOn(path, get(name));
  await until(() => path.inFlight === 4);
  const perReplica = path.figures().perReplica.map(({ inFlight }) => inFlight);
  expect(perReplica).toEqual([2, 2]);
});

test('ServicePath in `serve` goes to replicas in turn, each with ten times its concurrency of queue', async () => {
  const { path } = openPath({ containerConcurrency: 1 });
  const stages = [await heldStage(), await heldStage()];
  for (const [index, stage] of stages.entries()) path.setReplica(`one-${index}`, stage);
  path.setPath('serve');
  const sent = Array.from({ length: 22 }, (_, index) => sendOn(path, get(`/${index}`)));
  expect(path.figures().perReplica).toEqual([
    { replica: 'one-0', inFlight: 1, queued: 10 },
    { replica: 'one-1', inFlight: 1, queued: 10 },
  ]);
  expect(await ending(path.request(get('/refused')))).toBe('SERVICE_OVERLOADED');
  expect(sent.every(({ heard }) => heard.length === 0)).toBe(true);
  await stages[1]?.finish();
  await until(() => path.queued === 19);
  expect(path.figures().perReplica[1]).toEqual({ replica: 'one-1', inFlight: 1, queued: 9 });
});

test('ServicePath refuses more waiting requests than its bound', async () => {
  const { path } = openPath({ maxWaiting: 2 });
  const waiting = [sendOn(path, get('/1')), sendOn(path, get('/2'))];
  expect(await ending(path.request(get('/3')))).toBe('SERVICE_OVERLOADED');
  waiting[0]?.cancel();
  sendOn(path, get('/4'));
  expect(path.queued).toBe(2);
});

test('ServicePath without a limit of concurrency gives the less loaded of two replicas the next request', async () => {
  const { path } = openPath({ containerConcurrency: 0 });
  const stages = [await heldStage(), await heldStage()];
  for (const [index, stage] of stages.entries()) path.setReplica(`one-${index}`, stage);
  for (let index = 0; index < 40; index++) sendOn(path, get(`/${index}`));
  await until(() => path.inFlight === 40);
  const loads = path.figures().perReplica.map(({ inFlight }) => inFlight);
  expect(loads).toEqual([20, 20]);
});

test('ServicePath says when a request was where, and whether it came while nothing was ready', async () => {
  const { path, clock, firstResponses } = openPath({ containerConcurrency: 1 });
  const socketPath = await listen((_, response) => response.end('done'));
  await clock.advance(10);
  const [cold, second] = [path.request(post('/')), path.request(post('/'))];
  await clock.advance(200);
  path.setReplica('one-0', { socketPath });
  const { timing, ...head } = await cold;
  expect([head.status, head.body.toString()]).toEqual([200, 'done']);
  const times = { arrivedMs: 10, admittedMs: 210, sentMs: 210, headersMs: 210 };
  expect(timing).toEqual({ ...times, cold: true, replica: 'one-0' });
  expect((await second).timing.cold).toBe(true);
  expect((await path.request(get('/'))).timing.cold).toBe(false);
  expect(firstResponses).toEqual(['one-0']);
});

test('ServicePath reports the first response again for a replica that was away', async () => {
  const { path, firstResponses } = openPath();
  const socketPath = await listen((_, response) => response.end());
  path.setReplica('one-0', { socketPath });
  await path.request(get('/'));
  path.setReplica('one-0', undefined);
  path.setReplica('one-0', { socketPath });
  await path.request(get('/'));
  await path.request(get('/'));
  expect(firstResponses).toEqual(['one-0', 'one-0']);
});

test('ServicePath as a Deployment answers 503 at once without replicas, and knows no limit with them', async () => {
  const { path, firstRequests } = openPath({ kind: 'Deployment', containerConcurrency: 1 });
  expect(await ending(path.request(get('/')))).toBe('SERVICE_STARTING');
  const stages = [await heldStage(), await heldStage()];
  for (const [index, stage] of stages.entries()) path.setReplica(`one-${index}`, stage);
  for (let index = 0; index < 60; index++) sendOn(path, get('/'));
  await until(() => path.inFlight === 60);
  expect(path.queued).toBe(0);
  const loads = path.figures().perReplica.map(({ inFlight }) => inFlight);
  // At random: 60 throws of a coin, with this seed.
  expect(Math.min(...loads)).toBeGreaterThan(15);
  expect(firstRequests).toEqual([]);
});

test('ServicePath.request refuses an answer above its bound and closes its connection', async () => {
  const { path } = openPath();
  let closed = false;
  const socketPath = await listen((_, response) => {
    response.once('close', () => (closed = true));
    response.write(Buffer.alloc(11));
  });
  path.setReplica('one-0', { socketPath });
  await expect(path.request(get('/'), 10)).rejects.toMatchObject({
    code: 'SERVICE_ANSWER_TOO_LARGE',
    fields: { maxBytes: 10 },
  });
  await until(() => closed);
  expect(path.inFlight).toBe(0);
});

test('ServicePath.close fails what is inside, and whatever comes later', async () => {
  const { path, clock } = openPath({ containerConcurrency: 1 });
  const stage = await heldStage();
  path.setReplica('one-0', stage);
  const answers = [1, 2].map(() => ending(path.request(get('/'))));
  await until(() => stage.begun.length === 1);
  await path.close();
  expect(await Promise.all(answers)).toEqual(['SERVICE_STARTING', 'SERVICE_STARTING']);
  await until(() => stage.cut.length === 1);
  path.setReplica('one-0', stage);
  expect(await ending(path.request(get('/')))).toBe('SERVICE_STARTING');
  await clock.advance(0);
  expect(clock.sleeping).toBe(0);
});
