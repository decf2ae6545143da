import { ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { expect, test, vi } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import type { Log } from '../system/log.ts';
import { MAX_WAITING_SPANS } from './counting-export.ts';
import { startProcessTracing, startStandardTracing } from './process-tracing.ts';

function bench(loadExporter: () => Promise<SpanExporter>) {
  const told: string[] = [];
  const log: Log = {
    info: (message, fields) => void told.push(`${message} ${JSON.stringify(fields ?? {})}`),
    warn: (message, fields) => void told.push(`${message} ${JSON.stringify(fields ?? {})}`),
    error: (message) => void told.push(message),
  };
  const clock = new VirtualClock(1_767_600_000_000);
  const tracing = startProcessTracing({
    service: 's',
    instance: 's-0',
    software: 't/1',
    pid: 1,
    env: {},
    clock,
    nowMs: () => clock.nowMs(),
    spansUrl: undefined,
    tracesUrl: 'http://unused.test/v1/traces',
    log,
    loadExporter,
  });
  const work = (spans: number): void => {
    for (let n = 0; n < spans; n++) {
      const start = { name: 'deliver', kind: 'client', startMs: n, parent: undefined } as const;
      tracing.startSpan({ ...start, attributes: {} }).end(n + 1);
    }
  };
  return { told, tracing, work, clock };
}

const answering = (code: ExportResultCode, error?: Error): SpanExporter => ({
  export: (_spans, done) => done({ code, ...(error === undefined ? {} : { error }) }),
  forceFlush: async () => {},
  shutdown: async () => {},
});

test('a collector that is down: every span is made, all are counted, and it is told once', async () => {
  const down = answering(ExportResultCode.FAILED, new Error('connect ECONNREFUSED'));
  const { told, tracing, work } = bench(async () => down);
  work(2_000);
  await tracing.stop(1_000);
  expect(tracing.dropped).toBe(2_000);
  expect(told.filter((line) => line.includes('cannot be sent'))).toHaveLength(1);
  expect(told.at(-1)).toBe('spans were not delivered {"lost":2000,"delivered":0}');
});

test('a collector whose exporter cannot even be loaded is the same', async () => {
  const { told, tracing, work } = bench(() => Promise.reject(new Error('no such module')));
  work(600);
  await tracing.stop(1_000);
  expect(tracing.dropped).toBe(600);
  expect(told).toEqual([
    'spans cannot be sent and are dropped {"why":"no such module"}',
    'spans were not delivered {"lost":600,"delivered":0}',
  ]);
});

test('a collector that says nothing: what waits is bounded, the rest is dropped and counted', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  try {
    const silent: SpanExporter = {
      export: () => {},
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    const { told, tracing, work, clock } = bench(async () => silent);
    work(3 * MAX_WAITING_SPANS);
    expect(tracing.dropped).toBeGreaterThanOrEqual(MAX_WAITING_SPANS);
    // A stop waits for it no longer than it is allowed to.
    const stopped = tracing.stop(2_000);
    await clock.advance(2_000);
    await stopped;
    expect(told.at(-1)).toContain(`"lost":${3 * MAX_WAITING_SPANS}`);
    expect(told).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

test('a collector that is back is told once, with what was lost', async () => {
  let isDown = true;
  const flaky: SpanExporter = {
    export: (_spans, done) =>
      done({ code: isDown ? ExportResultCode.FAILED : ExportResultCode.SUCCESS }),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const { told, tracing, work } = bench(async () => flaky);
  // A full batch is sent at once.
  work(512);
  await vi.waitFor(() => expect(told).toHaveLength(1));
  isDown = false;
  work(512);
  await tracing.stop(1_000);
  expect(told).toEqual([
    'spans cannot be sent and are dropped {}',
    'spans can be sent again {"dropped":512}',
    'spans were not delivered {"lost":512,"delivered":512}',
  ]);
});

test.each([
  [
    'that refuses',
    (done: (result: { code: ExportResultCode }) => void) => done({ code: ExportResultCode.FAILED }),
  ],
  ['that says nothing', () => {}],
])(
  "OpenTelemetry's own set-up ends in time with a collector %s, twice in a process",
  async (_, answer) => {
    for (let run = 0; run < 2; run++) {
      const clock = new VirtualClock(1_767_600_000_000);
      const told: string[] = [];
      const keep = (message: string): void => void told.push(message);
      const tracing = await startStandardTracing({
        service: 's',
        instance: 's-0',
        software: 't/1',
        pid: 1,
        env: {},
        clock,
        nowMs: () => clock.nowMs(),
        spansUrl: undefined,
        tracesUrl: 'http://unused.test/v1/traces',
        log: { info: keep, warn: keep, error: keep },
        loadExporter: async () => ({
          export: (_spans, done) => answer(done),
          forceFlush: async () => {},
          shutdown: async () => {},
        }),
      });
      const start = { name: 'batch', kind: 'internal', startMs: clock.nowMs() } as const;
      tracing.startSpan({ ...start, parent: undefined, attributes: {} }).end(clock.nowMs() + 1);
      const stopped = tracing.stop(2_000);
      await clock.advance(2_000);
      await stopped;
      expect(told.at(-1)).toBe('spans were not delivered');
    }
  },
);
