import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '#kernel/system/log.ts';
import { DROPPED_HEADER, INSTANCE_HEADER } from '#kernel/telemetry/folder-exporter.ts';
import { SpanIntake } from './span-intake.ts';
import { startCollector } from './start-collector.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tachograph-spans-'));
  folders.push(folder);
  return folder;
};

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const span = (name: string) => ({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name });
const request = (...names: string[]) => ({
  resourceSpans: [{ scopeSpans: [{ spans: names.map(span) }] }],
});
const body = (value: unknown) => Buffer.from(JSON.stringify(value));
const linesOf = (folder: string) =>
  readFileSync(join(folder, 'spans.ndjson'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

test('SpanIntake keeps each request as a line, and counts its spans', () => {
  const folder = newFolder();
  const intake = new SpanIntake(folder);
  const pretty = Buffer.from(JSON.stringify(request('c'), undefined, 2));
  expect(intake.take({ body: body(request('a', 'b')), instance: 'x', dropped: '0' })).toEqual({
    kind: 'taken',
    spans: 2,
    rejected: 0,
  });
  intake.take({ body: pretty, instance: 'x', dropped: '' });
  intake.close();
  expect(linesOf(folder).map((line) => JSON.parse(line) as unknown)).toEqual([
    request('a', 'b'),
    request('c'),
  ]);
  expect(intake.account()).toMatchObject({ spans: 3, droppedByLimit: 0, droppedByProcess: {} });
});

test.each([
  ['no JSON', Buffer.from('{')],
  ['no list', body({})],
  ['no scope', body({ resourceSpans: [{}] })],
  [
    'an id that is none',
    body({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...span('a'), traceId: 'a' }] }] }] }),
  ],
  [
    'a span without a name',
    body({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...span('a'), name: 1 }] }] }] }),
  ],
  ['null', body(null)],
])('SpanIntake refuses %s, and writes nothing', (_, bad) => {
  const folder = newFolder();
  const intake = new SpanIntake(folder);
  expect(intake.take({ body: bad, instance: 'x', dropped: '7' }).kind).toBe('refused');
  intake.close();
  expect(linesOf(folder)).toEqual([]);
  expect(intake.account()).toMatchObject({ refusedRequests: 1, droppedByProcess: {} });
});

test('SpanIntake at its limit counts what the file does not get', () => {
  const folder = newFolder();
  const one = body(request('a'));
  const intake = new SpanIntake(folder, one.length + 1);
  intake.take({ body: one, instance: 'x', dropped: '' });
  expect(intake.problem).toBeUndefined();
  expect(intake.take({ body: body(request('b', 'c')), instance: 'x', dropped: '' })).toEqual({
    kind: 'taken',
    spans: 0,
    rejected: 2,
  });
  intake.close();
  expect(linesOf(folder)).toHaveLength(1);
  expect(intake.account()).toMatchObject({ spans: 1, droppedByLimit: 2 });
  expect(intake.problem).toContain('the file has reached');
});

test('SpanIntake takes the largest word of each process on what it dropped', () => {
  const intake = new SpanIntake(newFolder());
  const told = (instance: string, dropped: string) =>
    intake.take({ body: body({ resourceSpans: [] }), instance, dropped });
  told('x', '5');
  told('x', '3');
  told('y', '1');
  told('z', '-1');
  told('z', '1e9');
  intake.close();
  expect(intake.account().droppedByProcess).toEqual({ x: 5, y: 1 });
});

test('SpanIntake of more processes than it keeps apart counts the rest together', () => {
  const intake = new SpanIntake(newFolder());
  for (let n = 0; n < 10_002; n++) {
    intake.take({ body: body({ resourceSpans: [] }), instance: `r-${n}`, dropped: '2' });
  }
  intake.close();
  const { droppedByProcess } = intake.account();
  expect(Object.keys(droppedByProcess)).toHaveLength(10_001);
  expect(droppedByProcess['(others)']).toBe(2);
});

test('the collector takes OTLP/JSON over HTTP, and writes its account when it closes', async () => {
  const folder = join(newFolder(), 'traces');
  const collector = await startCollector(folder, silentLog);
  const post = (value: unknown, headers: Record<string, string> = {}) =>
    fetch(collector.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(value),
    });
  const dropped = { [INSTANCE_HEADER]: 'export-1', [DROPPED_HEADER]: '4' };
  expect((await post(request('a', 'b'), dropped)).status).toBe(200);
  expect((await post({ spans: [] })).status).toBe(400);
  expect((await post(request('c'), { 'content-type': 'application/x-protobuf' })).status).toBe(415);
  expect((await fetch(collector.url)).status).toBe(405);
  expect((await fetch(new URL('/v1/metrics', collector.url))).status).toBe(404);
  const soFar: unknown = await (await fetch(new URL('/account', collector.url))).json();
  expect(soFar).toMatchObject({ spans: 2, refusedRequests: 1 });
  const big = { resourceSpans: [], filler: 'x'.repeat(16_777_216) };
  expect((await post(big)).status).toBe(413);
  const account = await collector.close();
  expect(await collector.close()).toBe(account);
  expect(account).toMatchObject({
    schema: 'tachograph.tracing/1',
    spans: 2,
    refusedRequests: 1,
    droppedByProcess: { 'export-1': 4 },
  });
  expect(JSON.parse(readFileSync(join(folder, 'tracing.json'), 'utf8'))).toEqual(account);
  expect(linesOf(folder)).toHaveLength(1);
  await expect(fetch(collector.url)).rejects.toThrow();
});

test('a collector whose file cannot be made does not start', async () => {
  const folder = newFolder();
  await startCollector(join(folder, 'a'), silentLog).then((one) => one.close());
  const { mkdirSync } = await import('node:fs');
  mkdirSync(join(folder, 'b', 'spans.ndjson'), { recursive: true });
  await expect(startCollector(join(folder, 'b'), silentLog)).rejects.toThrow('EISDIR');
});
