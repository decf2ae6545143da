import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '../../core/clock.ts';
import { TachographError } from '../../core/errors.ts';
import { exampleReport } from '../../runtime/testing/fake-demand.ts';
import { serveStage, type ServedStage } from '../../runtime/testing/serve-stage.ts';
import { DONE, type StageDefinition } from '../../runtime/stage.ts';
import { memoryStore } from '../../store/memory-store.ts';
import { silentLog } from '../../system/log.ts';
import { meteredStore } from './metered-store.ts';
import { StageMetrics } from './stage-metrics.ts';

const served: ServedStage[] = [];

afterEach(async () => {
  for (const stage of served.splice(0)) await stage.close();
});

async function stage(change: Partial<StageDefinition> = {}) {
  const clock = new VirtualClock();
  const metrics = new StageMetrics('sqlite');
  const store = meteredStore(memoryStore(), metrics, clock);
  const context = { clock, store, log: silentLog, software: 't/1', metrics, emit: async () => {} };
  const definition: StageDefinition = {
    name: 'export',
    consumes: ['known'],
    handle: async () => {
      await clock.advance(30);
      return DONE;
    },
    routes: (app) => {
      app.get('/v1/things/:id', async () => ({}));
    },
    ...change,
  };
  const own = await serveStage(definition, context);
  served.push(own);
  const url = await own.listen();
  const send = (type: string) =>
    fetch(url, {
      method: 'POST',
      headers: { 'ce-specversion': '1.0', 'ce-id': 'a', 'ce-source': '/t', 'ce-type': type },
    });
  return { metrics, url, send, own, store };
}

/** `name{labels} value`, of histograms the count. */
function seriesOf({ book }: StageMetrics): readonly string[] {
  return book.families().flatMap(({ metric, points }) =>
    points.map(({ attributes, value }) => {
      const labels = Object.entries(attributes).map(([name, text]) => `${name}=${text}`);
      const amount = value.kind === 'number' ? value.value : value.count;
      return `${metric.name}{${labels.join(',')}} ${amount}`;
    }),
  );
}

test('a stage counts its requests by route and status, its events by type and outcome', async () => {
  const { metrics, url, send, own } = await stage();
  await send('known');
  await send('unheard of');
  await fetch(`${url}/v1/things/7`);
  await fetch(`${url}/nothing/here`);
  await own.close();
  const series = seriesOf(metrics);
  const http = 'http.server.request.duration';
  const route = (method: string, pattern: string, status: number) =>
    `${http}{http.request.method=${method},http.route=${pattern},http.response.status_code=${status}}`;
  expect(series).toContain(`${route('POST', '/', 204)} 2`);
  expect(series).toContain(`${route('GET', '/v1/things/:id', 200)} 1`);
  expect(series).toContain(`${route('GET', '', 404)} 1`);
  expect(series).toContain(
    'messaging.process.duration{cloudevents.event_type=known,tachograph.outcome=done} 1',
  );
  expect(series).toContain(
    'messaging.process.duration{cloudevents.event_type=_OTHER,tachograph.outcome=parked} 1',
  );
  expect(series).toContain('tachograph.events.parked{tachograph.outcome.reason=unknownType} 1');
  expect(series).toContain('http.server.active_requests{} 0');
  expect(series).toContain('faas.coldstarts{} 1');
});

test('a handler that throws counts as failed', async () => {
  const { metrics, send } = await stage({
    handle: async () => {
      throw new TachographError('STORE_BUSY', { detail: 'locked' });
    },
  });
  expect((await send('known')).status).toBe(503);
  expect(seriesOf(metrics)).toContain(
    'messaging.process.duration{cloudevents.event_type=known,tachograph.outcome=failed} 1',
  );
});

test('calls of the store by operation and collection, with the code of what failed', async () => {
  const metrics = new StageMetrics('mongodb');
  const clock = new VirtualClock();
  const memory = memoryStore();
  const store = meteredStore(memory, metrics, clock);
  await store.insert('windows', 'v/s/1', { a: 1 });
  await store.insert('windows', 'v/s/1', { a: 1 });
  await store.get('windows', 'v/s/1');
  await store.range('windows', '', '~', { limit: 10 });
  const failing = meteredStore(
    { ...memory, get: () => Promise.reject(new TachographError('STORE_BUSY', { detail: 'x' })) },
    metrics,
    clock,
  );
  await expect(failing.get('windows', 'x')).rejects.toThrow('x');
  const of = (operation: string, more = '') =>
    `db.client.operation.duration{db.system.name=mongodb,db.operation.name=${operation},` +
    `db.collection.name=windows${more}}`;
  const series = seriesOf(metrics);
  expect(series).toContain(`${of('insert')} 2`);
  expect(series).toContain(`${of('get')} 1`);
  expect(series).toContain(`${of('range')} 1`);
  expect(series).toContain(`${of('get', ',error.type=STORE_BUSY')} 1`);
  expect(series).toContain('tachograph.events.duplicate{} 1');
});

test('the error of a burst is its CPU time against the asked one; work has none, nor what was cut', () => {
  const metrics = new StageMetrics('sqlite');
  metrics.bursts([
    exampleReport({ nominal: 50, cpuMs: 50.5 }),
    exampleReport({ kind: 'work', cpuMs: 70 }),
    exampleReport({ aborted: true, cpuMs: 5 }),
    exampleReport({ kind: 'delay', cpuMs: 0 }),
  ]);
  const series = seriesOf(metrics);
  expect(series).toContain('tachograph.burst.error{} 1');
  expect(series.find((line) => line.startsWith('tachograph.burst.cpu.time'))).toMatch(/0\.1255/);
});
