import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SPANS_FILE, TRACING_FILE, type TracingFile } from '#infra/local/tracing/tracing-file.ts';
import { spansOf } from './parse-otlp.ts';
import type { SpanRecord } from './span-record.ts';

/** The spans of a result folder. */
export interface ReadSpans {
  readonly spans: readonly SpanRecord[];
  /** null: the collector did not come to its end. */
  readonly tracing: TracingFile | null;
  /** Lines that could not be read, in words; the first few of them. */
  readonly faults: readonly string[];
}

/** What fits into memory comfortably: 0.5 KB each. */
export const MAX_SPANS = 2_000_000;
const MAX_FAULTS = 10;

/**
 * Reads `spans.ndjson` and `tracing.json`; undefined where there are none: the run was not traced. A line
 * that cannot be read (the last one of a run that was killed) is told, and the others are used.
 */
export async function readSpans(folder: string): Promise<ReadSpans | undefined> {
  const path = join(folder, SPANS_FILE);
  if (!existsSync(path)) return undefined;
  const spans: SpanRecord[] = [];
  const faults: string[] = [];
  const fault = (text: string): void => {
    if (faults.length < MAX_FAULTS) faults.push(text);
  };
  let number = 0;
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  for await (const line of lines) {
    number += 1;
    if (line === '') continue;
    const found = spansOf(line);
    if (found === undefined) {
      fault(`${SPANS_FILE}:${number} is no OTLP/JSON request`);
      continue;
    }
    if (spans.length + found.length > MAX_SPANS) {
      fault(`${SPANS_FILE} holds more than ${MAX_SPANS} spans; what follows is not read`);
      break;
    }
    spans.push(...found);
  }
  return { spans, tracing: await readTracingFile(folder), faults };
}

async function readTracingFile(folder: string): Promise<TracingFile | null> {
  const path = join(folder, TRACING_FILE);
  if (!existsSync(path)) return null;
  const parsed = JSON.parse(await readFile(path, 'utf8')) as TracingFile;
  return parsed.schema === 'tachograph.tracing/1' ? parsed : null;
}
