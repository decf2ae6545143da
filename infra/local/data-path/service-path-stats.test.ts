import { afterEach, expect, test } from 'vitest';
import type { Stat } from '#infra/autoscaling/policy.ts';
import { until } from '#infra/local/testing/processes.ts';
import { closeGateways, openPath } from './testing/gateways.ts';
import { get, heldStage, sendOn } from './testing/stages.ts';

afterEach(closeGateways);

const stat = (
  from: Stat['from'],
  atMs: number,
  averageConcurrency: number,
  averageProxiedConcurrency: number,
  requestCount: number,
  proxiedRequestCount: number,
): Stat => ({
  atMs,
  from,
  averageConcurrency,
  averageProxiedConcurrency,
  requestCount,
  proxiedRequestCount,
});

test('ServicePath without replicas or requests reports nothing, with an idle replica zeros', async () => {
  const { path, clock } = openPath();
  await clock.advance(1_000);
  expect(path.takeStats(1_000)).toEqual([]);
  path.setReplica('one-0', await heldStage());
  await clock.advance(1_000);
  expect(path.takeStats(2_000)).toEqual([stat('replica', 2_000, 0, 0, 0, 0)]);
});

test('ServicePath tells a first request at once, and takes it off the next report', async () => {
  const { path, clock, firstRequests } = openPath({ originMs: 100 });
  await clock.advance(400);
  const first = sendOn(path, get('/1'));
  sendOn(path, get('/2'));
  expect(firstRequests).toEqual([stat('activator', 300, 1, 0, 1, 0)]);
  await clock.advance(1_000);
  expect(path.takeStats(1_300)).toEqual([stat('activator', 1_300, 1, 0, 1, 0)]);
  first.cancel();
  await clock.advance(1_000);
  expect(path.takeStats(2_300)).toEqual([stat('activator', 2_300, 1, 0, 0, 0)]);
  expect(firstRequests).toHaveLength(1);
});

test('ServicePath in `proxy` counts a request twice, the second time as proxied: the difference is 0', async () => {
  const { path, clock } = openPath({ containerConcurrency: 1 });
  const stage = await heldStage();
  path.setReplica('one-0', stage);
  sendOn(path, get('/1'));
  sendOn(path, get('/2'));
  await clock.advance(500);
  await stage.finish();
  await until(() => stage.begun.length === 2);
  await clock.advance(500);
  // The activator had two for half the time and one for the rest, less the one told at once.
  const [activator, replica] = path.takeStats(1_000);
  expect(activator).toEqual(stat('activator', 1_000, 0.5, 0, 1, 0));
  expect(replica).toEqual(stat('replica', 1_000, 1, 1, 2, 2));
});

test('ServicePath in `serve` counts a request at its replica alone, the time in its queue too', async () => {
  const { path, clock, firstRequests } = openPath({ containerConcurrency: 1 });
  path.setReplica('one-0', await heldStage());
  path.setPath('serve');
  sendOn(path, get('/1'));
  await clock.advance(500);
  sendOn(path, get('/2'));
  await clock.advance(500);
  expect(path.takeStats(1_000)).toEqual([stat('replica', 1_000, 1.5, 0, 2, 0)]);
  expect(firstRequests).toEqual([]);
});

test('ServicePath leaves draining replicas out of its statistics', async () => {
  const { path, clock } = openPath({ containerConcurrency: 1 });
  path.setReplica('one-0', await heldStage());
  path.setReplica('one-1', await heldStage());
  sendOn(path, get('/1'));
  void path.drainReplica('one-0');
  await clock.advance(1_000);
  expect(path.takeStats(1_000)).toEqual([
    stat('activator', 1_000, 0, 0, 1 - 1, 0),
    stat('replica', 1_000, 0, 0, 0, 0),
  ]);
});

test('ServicePath.figures counts arrivals and the average inside since they were taken last', async () => {
  const { path, clock } = openPath({ containerConcurrency: 1 });
  const stage = await heldStage();
  path.setReplica('one-0', stage);
  await clock.advance(500);
  for (const name of ['/1', '/2', '/3']) sendOn(path, get(name));
  await clock.advance(500);
  const perReplica = [{ replica: 'one-0', inFlight: 1, queued: 0 }];
  const now = { queued: 2, inFlight: 1, perReplica };
  expect(path.figures()).toEqual({ offered: 3, averageConcurrency: 1.5, ...now });
  await clock.advance(1_000);
  expect(path.figures()).toEqual({ offered: 0, averageConcurrency: 3, ...now });
});
