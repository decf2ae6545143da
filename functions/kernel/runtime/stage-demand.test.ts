import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import { memoryStore } from '../store/memory-store.ts';
import { silentLog } from '../system/log.ts';
import type { BurstsAnswer } from './bursts.ts';
import { DONE, type Outcome, type StageDefinition } from './stage.ts';
import { fakeSpan } from '../telemetry/testing/fake-span.ts';
import { StageDemand } from './stage-demand.ts';
import { fakeDemand, fakeRunner, type FakeRunner } from './testing/fake-demand.ts';
import { serveStage, type ServedStage } from './testing/serve-stage.ts';

const store = memoryStore();
const clock = new VirtualClock();
const context = { clock, store, log: silentLog, software: 't/1.0.0', emit: async () => {} };
const apps: ServedStage[] = [];

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  await store.removePrefix('payloads', '', 1_000);
});

/** A stage that notes its own work among the runner's executions. */
async function serve(
  runner: FakeRunner,
  extra: Partial<StageDefinition> = {},
  outcome: Outcome = DONE,
): Promise<ServedStage> {
  const work = (name: string) => async (): Promise<Outcome> => {
    runner.executed.push(name);
    return outcome;
  };
  const definition: StageDefinition = {
    name: 'export',
    consumes: ['known'],
    handle: work('handle'),
    emulate: work('emulate'),
    ...extra,
  };
  const app = await serveStage(definition, context, fakeDemand(runner, context));
  apps.push(app);
  return app;
}

const headers = {
  'ce-id': 'a/b',
  'ce-source': '/test',
  'ce-type': 'known',
  'ce-specversion': '1.0',
  'ce-subject': 'veh-1',
  'content-type': 'application/json',
};

const post = (app: ServedStage) => app.inject({ method: 'POST', url: '/', headers, payload: '{}' });

const bursts = async (app: ServedStage, query = ''): Promise<BurstsAnswer> =>
  (await app.inject({ url: `/bursts${query}` })).json();

test('demands before and after the work are executed around it, for the event', async () => {
  const runner = fakeRunner(['before', 'after']);
  expect((await post(await serve(runner))).statusCode).toBe(204);
  expect(runner.executed).toEqual(['before a/b', 'handle', 'after a/b']);
});

test('a demand in place of the work: the least is done after it, the work is not', async () => {
  const runner = fakeRunner(['instead']);
  expect((await post(await serve(runner))).statusCode).toBe(204);
  expect(runner.executed).toEqual(['instead a/b', 'emulate']);
});

test('a demand after work that is to be tried again: not executed', async () => {
  const runner = fakeRunner(['after']);
  const app = await serve(runner, {}, { kind: 'retry', afterMs: 1, reason: 'r' });
  expect((await post(app)).statusCode).toBe(503);
  expect(runner.executed).toEqual(['handle']);
});

test('an event that is not consumed: nothing is executed for it', async () => {
  const runner = fakeRunner(['before']);
  await post(await serve(runner, { consumes: ['other'] }));
  expect(runner.executed).toEqual([]);
});

test('a runner whose queue is full: the event is to be tried again', async () => {
  const runner = fakeRunner(['before']);
  runner.run = async () => {
    throw new TachographError('DEMAND_QUEUE_FULL', { waiting: 1_000, max: 1_000 });
  };
  const answer = await post(await serve(runner));
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
});

test('a payload is stored once as a fact of its own, however often the event comes', async () => {
  const app = await serve(fakeRunner(['after'], { after: 2_048 }));
  await post(app);
  await post(app);
  const found = await store.range('payloads', '', '\u{10FFFF}', { limit: 10 });
  expect(found.map(({ id }) => id)).toEqual(['veh-1/export/a~2fb/after']);
  expect(found[0]?.document).toMatchObject({ stage: 'export', bytes: { length: 2_048 } });
});

test('a caller that closes its connection ends the burst, and nothing is done for it', async () => {
  const runner = fakeRunner(['before']);
  runner.isEndless = true;
  const app = await serve(runner);
  const call = request(await app.listen(), { method: 'POST', headers });
  const gone = new Promise((resolve) => call.once('error', resolve));
  call.end('{}');
  await expect.poll(() => runner.executed).toEqual(['before a/b']);
  call.destroy();
  await gone;
  await expect.poll(async () => (await bursts(app)).newest).toBe(1);
  expect((await bursts(app)).rows[0]).toMatchObject({ aborted: true });
  expect(runner.executed).toEqual(['before a/b']);
});

test('GET /bursts: settings, histograms and the rows after those read of this replica', async () => {
  const app = await serve(fakeRunner(['before']));
  await post(app);
  await post(app);
  const all = await bursts(app);
  expect(all).toMatchObject({
    demand: 'cpuTime:50ms@before',
    placement: 'inline',
    seed: 1,
    instance: 'export-1-2',
    queueLength: 0,
    newest: 2,
    histograms: [{ kind: 'cpuTime', place: 'before', bursts: 2 }],
  });
  expect(all.rows.map(({ n }) => n)).toEqual([1, 2]);
  const rest = await bursts(app, '?after=other-9-9:7,export-1-2:1');
  expect(rest.rows.map(({ n }) => n)).toEqual([2]);
});

test.each(['x', 'export-1-2', 'export-1-2:-1', 'a:1,', encodeURIComponent('a b:1')])(
  'GET /bursts?after=%s is refused',
  async (after) => {
    const app = await serve(fakeRunner(['before']));
    expect((await app.inject({ url: `/bursts?after=${after}` })).statusCode).toBe(400);
  },
);

test('a stage without a demand has no /bursts', async () => {
  const definition = { name: 'export', consumes: [], handle: async () => DONE } as const;
  const app = await serveStage(definition, context);
  apps.push(app);
  expect((await app.inject({ url: '/bursts' })).statusCode).toBe(404);
});

test('a stage that consumes no events: executed around its POSTs, after those that succeed', async () => {
  const runner = fakeRunner(['before', 'after']);
  const app = await serve(runner, {
    consumes: [],
    routes: (scope) => {
      scope.post('/v1/good', () => {
        runner.executed.push('good');
        return {};
      });
      scope.post('/v1/bad', () => {
        runner.executed.push('bad');
        throw new TachographError('BODY_EMPTY', { expected: 'a body' });
      });
      scope.get('/v1/good', () => ({}));
    },
  });
  await app.inject({ method: 'POST', url: '/v1/good' });
  await app.inject({ url: '/v1/good' });
  await app.inject({ url: '/healthz' });
  const places = (): string[] => runner.executed.map((entry) => entry.replace(/ .*/, ''));
  expect(places()).toEqual(['before', 'good', 'after']);
  expect((await app.inject({ method: 'POST', url: '/v1/bad' })).statusCode).toBe(400);
  expect(places()).toEqual(['before', 'good', 'after', 'before', 'bad']);
});

test('a burst is phases of the span at work: CPU, waiting for a CPU, the rest, up to its end', async () => {
  const span = fakeSpan();
  const demand = new StageDemand({
    stage: 'export',
    runner: fakeRunner(['before']),
    settings: { demand: 'cpuTime:50ms@before', placement: 'inline', seed: 1 },
    clock,
    store,
    instance: 'export-1-2',
    span: () => span,
    nowMs: () => 1_060,
  });
  const cause = { key: 'a', subject: 'v' };
  await demand.consume('before', cause, new AbortController().signal);
  // The example burst: 50.5 ms of CPU, 9 ms of waiting for one, 0.5 ms of rest, no queue.
  expect(span.told).toEqual([
    'mark queue 1000 to 1000',
    'mark burnCpu 1000 to 1050.5',
    'mark burnReady 1050.5 to 1059.5',
    'mark burnRest 1059.5 to 1060',
  ]);
});
