import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { TracingFile } from '#infra/local/tracing/tracing-file.ts';
import { copySpans } from './copy-spans.ts';
import { readSpans } from './read-spans.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tachograph-copy-'));
  folders.push(folder);
  return folder;
};

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const id = (letter: string, length: number) => letter.repeat(length);
const span = (trace: string, spanId: string, links: readonly string[] = []) => ({
  traceId: id(trace, 32),
  spanId: id(spanId, 16),
  name: 'handle',
  startTimeUnixNano: '1767600000000000000',
  endTimeUnixNano: '1767600000001000000',
  links: links.map((letter) => ({ traceId: id(letter, 32), spanId: id('f', 16) })),
});
const line = (...spans: readonly object[]) =>
  `${JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })}\n`;

const account = (change: Partial<TracingFile> = {}): TracingFile => ({
  schema: 'tachograph.tracing/1',
  spans: 0,
  bytes: 0,
  refusedRequests: 0,
  droppedByLimit: 0,
  droppedByProcess: {},
  ...change,
});

test("copySpans takes a run's traces and those that link to them, and nothing of others", async () => {
  const [fromDir, toDir] = [newFolder(), newFolder()];
  const lines = [
    line(span('a', '1'), span('b', '2')),
    line(span('b', '3')),
    'torn {\n',
    // A tick closed the window of trace a.
    line(span('c', '4', ['a']), span('c', '5')),
  ];
  writeFileSync(join(fromDir, 'spans.ndjson'), lines.join(''));
  const before = account({ droppedByProcess: { old: 3, same: 1 }, droppedByLimit: 1 });
  const after = account({ droppedByProcess: { old: 5, same: 1, fresh: 2 }, droppedByLimit: 4 });
  await copySpans({ fromDir, toDir, traceIds: [id('a', 32)], before, after });
  const found = await readSpans(toDir);
  expect(found?.spans.map(({ spanId }) => spanId[0])).toEqual(['1', '4', '5']);
  expect(found?.faults).toEqual([]);
  expect(found?.tracing).toMatchObject({
    spans: 3,
    droppedByLimit: 3,
    droppedByProcess: { old: 2, fresh: 2 },
    bytes: readFileSync(join(toDir, 'spans.ndjson')).length,
  });
});
