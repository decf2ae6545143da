import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '../../core/clock.ts';
import type { Log } from '../../system/log.ts';
import { MeterBook } from './meter-book.ts';
import { METRIC } from './metric-names.ts';
import { openMetrics } from './open-metrics.ts';
import { exportIntervalMs, metricsUrl, pushMetrics } from './push-metrics.ts';

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
  server = undefined;
});

/** A collector that answers by `statuses`, the last one for ever. */
async function collector(...statuses: readonly number[]) {
  const asked: { readonly path: string | undefined; readonly bytes: number }[] = [];
  server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (piece: Buffer) => (bytes += piece.length));
    request.on('end', () => {
      const status = statuses[Math.min(asked.length, statuses.length - 1)] ?? 200;
      asked.push({ path: request.url, bytes });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function bench() {
  const told: string[] = [];
  const log: Log = {
    info: (message) => void told.push(message),
    warn: (message) => void told.push(message),
    error: (message) => void told.push(message),
  };
  const book = new MeterBook();
  book.add(METRIC.coldStarts, 1);
  const clock = new VirtualClock(1_000);
  const identity = { service: 'export', instance: 'export-1', software: 't/1', pid: 1 };
  return { told, log, book, clock, identity };
}

test.each([
  [{}, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/' }, 'http://c:4318/v1/metrics'],
  [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m/x' }, 'http://m/x'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_METRICS_EXPORTER: 'none' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_METRICS_EXPORTER: 'prometheus' }, undefined],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_METRICS_EXPORTER: 'prometheus,otlp' },
    'http://c/v1/metrics',
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_SDK_DISABLED: 'true' }, undefined],
])('metricsUrl of %j: %s', (env, url) => {
  expect(metricsUrl(env)).toBe(url);
});

test('the interval is the standard one, and one that is none is refused', () => {
  expect(exportIntervalMs({})).toBe(60_000);
  expect(exportIntervalMs({ OTEL_METRIC_EXPORT_INTERVAL: '100' })).toBe(100);
  for (const text of ['99', '1s', '-5', '1e9']) {
    expect(() => exportIntervalMs({ OTEL_METRIC_EXPORT_INTERVAL: text })).toThrow('INTERVAL');
  }
});

test('the last push is made at the stop, whatever the interval', async () => {
  const { asked, url } = await collector(200);
  const { log, book, clock, identity, told } = bench();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const metrics = await openMetrics({ book, identity, env, clock, log });
  // Virtual time stands: the push's end is what is waited for.
  await metrics.stop(1_000);
  expect(asked).toEqual([{ path: '/v1/metrics', bytes: expect.any(Number) as number }]);
  expect(asked[0]?.bytes).toBeGreaterThan(50);
  expect(told).toEqual([]);
});

test('without an endpoint nothing is pushed, and the text is there all the same', async () => {
  const { log, book, clock, identity } = bench();
  const metrics = await openMetrics({ book, identity, env: {}, clock, log });
  expect(await metrics.text()).toContain('faas_coldstarts_total');
  await metrics.stop(0);
});

test('a collector that refuses is told once', async () => {
  const { url } = await collector(400);
  const { log, book, clock, identity, told } = bench();
  const options = { book, identity, startMs: 0, nowMs: () => 1, clock, log, intervalMs: 60_000 };
  const push = pushMetrics({ ...options, url: `${url}/v1/metrics` });
  await push.stop(1_000);
  expect(told).toEqual(['metrics cannot be sent']);
});
