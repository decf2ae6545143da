import { afterEach, expect, test } from 'vitest';
import { closeGateways, openPath } from './testing/gateways.ts';
import { ending, get, sendOn } from './testing/stages.ts';

/**
 * knative/serving pkg/activator/net/throttler_test.go and pkg/queue/handler_test.go, commit 98e5ef90,
 * restated: the rows with one activator and addresses of pods.
 */
afterEach(closeGateways);

/** Nobody listens there, which shows only after a test has looked at who has which place. */
const address = { port: 9 };

function pathWith(containerConcurrency: number, ...replicas: readonly string[]) {
  const opened = openPath({ containerConcurrency, maxWaiting: 1_000 });
  for (const replica of replicas) opened.path.setReplica(replica, address);
  return opened.path;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}`);

test.each([
  ['capacity: 1, cc: 10', 10, 1, 10],
  ['capacity: 10, cc: 10', 10, 10, 100],
  ['numActivators: 1, capacity: 0, cc: 10, pods: 1', 10, 1, 10],
  ['2 backends. numActivators: 1, capacity: -1, cc: 10, pods: 2', 10, 2, 20],
  ['no pods, cc: 10', 10, 0, 0],
])('TestThrottlerUpdateCapacity: %s', (_, concurrency, pods, capacity) => {
  const path = pathWith(concurrency, ...names(pods));
  for (let sent = 0; sent < capacity + 5; sent++) sendOn(path, get('/'));
  expect([path.inFlight, path.queued]).toEqual([capacity, 5]);
});

test.each([
  ['newInfiniteBreaker, capacity: 0, cc: 0', 0, 0],
  ['newInfiniteBreaker, capacity: 1, cc: 0', 1, 200],
  ['newInfiniteBreaker, capacity: 10, cc: 0', 10, 200],
])('TestThrottlerUpdateCapacity: %s', (_, pods, inFlight) => {
  const path = pathWith(0, ...names(pods));
  for (let sent = 0; sent < 200; sent++) sendOn(path, get('/'));
  expect([path.inFlight, path.queued]).toEqual([inFlight, 200 - inFlight]);
});

test('TestInfiniteBreaker: shut without pods, open with one, shut again', () => {
  const path = pathWith(0);
  const early = sendOn(path, get('/'));
  expect(path.queued).toBe(1);
  early.cancel();
  expect(path.queued).toBe(0);
  path.setReplica('a', address);
  for (let sent = 0; sent < 2; sent++) sendOn(path, get('/'));
  expect([path.inFlight, path.queued]).toEqual([2, 0]);
  path.setReplica('a', undefined);
  sendOn(path, get('/'));
  expect(path.queued).toBe(1);
  path.setReplica('b', address);
  expect([path.inFlight, path.queued]).toEqual([1, 0]);
});

test.each([
  ['single healthy podIP', 1, ['1'], 1, ['1']],
  ['single healthy podIP, infinite cc', 0, ['1'], 1, ['1']],
  ['spread podIP load', 1, ['1', '2'], 2, ['1', '2']],
  ['clumping test', 3, ['1', '2', '3', '4', '5'], 3, ['1']],
  ['roundrobin test', 5, ['1', '2', '3'], 3, ['1', '2', '3']],
])('TestThrottlerSuccesses: %s', (_, concurrency, replicas, requests, used) => {
  const path = pathWith(concurrency, ...replicas);
  for (let sent = 0; sent < requests; sent++) sendOn(path, get('/'));
  const busy = path.figures().perReplica.filter(({ inFlight }) => inFlight > 0);
  expect(busy.map(({ replica }) => replica)).toEqual(used);
});

test('TestThrottlerSuccesses: pods of an update before are asked no more', () => {
  const path = pathWith(1, '3');
  path.setReplica('3', undefined);
  for (const replica of ['1', '2']) path.setReplica(replica, address);
  for (let sent = 0; sent < 2; sent++) sendOn(path, get('/'));
  expect(path.figures().perReplica.map(({ replica }) => replica)).toEqual(['1', '2']);
});

test('TestHandlerBreakerQueueFull: 503 beyond the queue-proxy and its queue', async () => {
  const path = pathWith(1, 'a');
  path.setPath('serve');
  for (let sent = 0; sent < 11; sent++) sendOn(path, get('/'));
  const refused = path.request(get('/'));
  await expect(refused).rejects.toMatchObject({ status: 503, fields: { queued: 10 } });
});

test('TestHandlerBreakerTimeout: 503 for who waits in the queue-proxy until his time is over', async () => {
  const { path, clock } = openPath({ containerConcurrency: 1, timeoutMs: 100 });
  path.setReplica('a', address);
  path.setPath('serve');
  sendOn(path, get('/'));
  const waiting = ending(path.request(get('/')));
  await clock.advance(100);
  expect(await waiting).toBe('SERVICE_BUSY');
});
