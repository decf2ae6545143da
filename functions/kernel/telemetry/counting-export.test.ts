import { ROOT_CONTEXT } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { TracerProvider, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import type { Log } from '../system/log.ts';
import { CountingExport, MAX_WAITING_SPANS } from './counting-export.ts';

/** An exporter that answers as told, and what was loaded, sent and logged. */
function setUp(answer: () => ExportResult) {
  const sent: ReadableSpan[][] = [];
  const logged: string[] = [];
  let loads = 0;
  let shutdowns = 0;
  const note = (message: string): void => void logged.push(message);
  const log: Log = { info: note, warn: note, error: note };
  const exporter: SpanExporter = {
    export: (spans, done) => {
      sent.push(spans);
      done(answer());
    },
    shutdown: async () => void (shutdowns += 1),
  };
  const sending = new CountingExport(async () => {
    loads += 1;
    return exporter;
  }, log);
  const tracer = new TracerProvider({ spanProcessors: [sending] }).getTracer('test');
  const end = (count: number): void => {
    for (let n = 0; n < count; n++) tracer.startSpan('s', {}, ROOT_CONTEXT).end();
  };
  return { sending, sent, logged, end, loads: () => loads, shutdowns: () => shutdowns };
}

const taken = (): ExportResult => ({ code: ExportResultCode.SUCCESS });
const refused = (): ExportResult => ({ code: ExportResultCode.FAILED, error: new Error('down') });

test('spans are delivered at a flush; the exporter is loaded for them, once', async () => {
  const { sending, sent, end, loads, shutdowns } = setUp(taken);
  expect(loads()).toBe(0);
  end(3);
  await sending.forceFlush();
  end(1);
  await sending.shutdown();
  expect(sent.map((spans) => spans.length)).toEqual([3, 1]);
  expect([loads(), shutdowns()]).toEqual([1, 1]);
  expect([sending.delivered, sending.dropped, sending.undelivered]).toEqual([4, 0, 0]);
});

test('an exporter that nobody needed is not loaded to be shut down', async () => {
  const { sending, loads } = setUp(taken);
  await sending.shutdown();
  expect(loads()).toBe(0);
});

test('spans beyond the bound are dropped and counted, the ones before are delivered', async () => {
  const { sending, sent, end } = setUp(taken);
  // In one turn: beside what waits there is one batch under way.
  end(MAX_WAITING_SPANS + 700);
  expect(sending.undelivered).toBe(MAX_WAITING_SPANS + 512);
  expect(sending.dropped).toBe(700 - 512);
  await sending.forceFlush();
  expect(sending.delivered).toBe(MAX_WAITING_SPANS + 512);
  expect(sent.flat().length).toBe(sending.delivered);
  expect(sent.every((spans) => spans.length <= 512)).toBe(true);
});

test('a collector that does not answer well is told once, and once when it is back', async () => {
  let answer = refused;
  const { sending, logged, end } = setUp(() => answer());
  for (let round = 0; round < 3; round++) {
    end(2);
    await sending.forceFlush().catch((error: unknown) => {
      expect((error as Error).message).toBe('down');
    });
  }
  expect([sending.delivered, sending.dropped]).toEqual([0, 6]);
  answer = taken;
  end(1);
  await sending.forceFlush();
  end(1);
  await sending.forceFlush();
  expect(logged).toEqual(['spans cannot be sent and are dropped', 'spans can be sent again']);
});

test('an exporter that cannot be loaded loses spans, and nothing else', async () => {
  const logged: unknown[] = [];
  const note = (_: string, fields?: object): void => void logged.push(fields);
  const log: Log = { info: note, warn: note, error: note };
  const sending = new CountingExport(() => Promise.reject(new Error('no such module')), log);
  const tracer = new TracerProvider({ spanProcessors: [sending] }).getTracer('test');
  tracer.startSpan('s', {}, ROOT_CONTEXT).end();
  await expect(sending.forceFlush()).rejects.toThrow('no such module');
  expect(sending.dropped).toBe(1);
  expect(logged).toEqual([{ why: 'no such module' }]);
});
