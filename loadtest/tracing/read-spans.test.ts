import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpanStatusCode } from '@opentelemetry/api';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { afterEach, expect, test } from 'vitest';
import { spansOf } from './parse-otlp.ts';
import { readSpans } from './read-spans.ts';

let folder = '';
const newFolder = (): string => (folder = mkdtempSync(join(tmpdir(), 'tachograph-read-')));

afterEach(() => {
  if (folder !== '') rmSync(folder, { recursive: true });
  folder = '';
});

/** What the SDK itself writes. */
async function serialized(): Promise<string> {
  const memory = new InMemorySpanExporter();
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: memory })],
  });
  const span = provider.getTracer('t').startSpan('deliver', {
    startTime: 1_767_600_000_000.123,
    attributes: {
      'faas.name': 'export',
      'tachograph.delivery.attempt': 2,
      'faas.coldstart': true,
      'tachograph.phase.queue_ms': 1.5,
      'tachograph.phases': 'stream:-10+10 queue:0+1500',
    },
    links: [{ context: { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), traceFlags: 1 } }],
  });
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'no' });
  span.end(1_767_600_000_002.5);
  await provider.forceFlush();
  return Buffer.from(
    JsonTraceSerializer.serializeRequest(memory.getFinishedSpans()) ?? [],
  ).toString();
}

test('spansOf reads what the SDK writes, times to the µs', async () => {
  const [span, ...more] = spansOf(await serialized()) ?? [];
  expect(more).toEqual([]);
  expect(span).toMatchObject({
    parentSpanId: null,
    name: 'deliver',
    attributes: {
      'faas.name': 'export',
      'tachograph.delivery.attempt': 2,
      'faas.coldstart': true,
      'tachograph.phase.queue_ms': 1.5,
    },
    links: [{ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), attributes: {} }],
    error: true,
    errorMessage: 'no',
    marks: [
      { phase: 'stream', fromUs: -10, lengthUs: 10 },
      { phase: 'queue', fromUs: 0, lengthUs: 1_500 },
    ],
  });
  expect(span?.startMs).toBeCloseTo(1_767_600_000_000.123, 3);
  expect(span?.endMs).toBeCloseTo(1_767_600_000_002.5, 3);
});

test.each(['', '[]', '{"resourceSpans":1}', '{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}'])(
  'spansOf of %j is none, or empty',
  (text) => {
    expect(spansOf(text) ?? []).toEqual([]);
  },
);

test('readSpans of a folder without spans: the run was not traced', async () => {
  expect(await readSpans(newFolder())).toBeUndefined();
});

test('readSpans uses what can be read, and names what cannot', async () => {
  const path = newFolder();
  const line = await serialized();
  writeFileSync(join(path, 'spans.ndjson'), `${line}\nnonsense\n${line}\n${line.slice(0, 100)}`);
  const found = await readSpans(path);
  expect(found?.spans).toHaveLength(2);
  expect(found?.tracing).toBeNull();
  expect(found?.faults).toEqual([
    'spans.ndjson:2 is no OTLP/JSON request',
    'spans.ndjson:4 is no OTLP/JSON request',
  ]);
});

test('readSpans takes the account of the collector', async () => {
  const path = newFolder();
  writeFileSync(join(path, 'spans.ndjson'), '');
  const account = { schema: 'tachograph.tracing/1', spans: 0, droppedByLimit: 2 };
  writeFileSync(join(path, 'tracing.json'), JSON.stringify(account));
  expect((await readSpans(path))?.tracing).toEqual(account);
});
