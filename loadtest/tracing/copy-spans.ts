import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import { ACCOUNT_PATH } from '#infra/local/tracing/collector-server.ts';
import { RowFile } from '#infra/local/row-file.ts';
import { MAX_SPAN_BYTES } from '#infra/local/tracing/span-intake.ts';
import { SPANS_FILE, TRACING_FILE, type TracingFile } from '#infra/local/tracing/tracing-file.ts';
import { spansOf } from './parse-otlp.ts';

export interface CopyOptions {
  /** The folder of a pipeline that goes on running. */
  readonly fromDir: string;
  readonly toDir: string;
  /** Of the run's batches. */
  readonly traceIds: readonly string[];
  /** The collector's account before the run and after it. */
  readonly before: TracingFile;
  readonly after: TracingFile;
}

const TIMEOUT_MS = 10_000;

/** What the collector of a running pipeline has taken so far. `spansUrl` is where it takes spans. */
export async function readAccount(spansUrl: string): Promise<TracingFile> {
  const answer = await request(new URL(ACCOUNT_PATH, spansUrl), {
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  return (await answer.body.json()) as TracingFile;
}

/**
 * Copies the spans of a run's traces, and those of traces that link to them: a window may have been
 * closed by a tick. What a process dropped in the meantime counts, whoever's spans they were.
 */
export async function copySpans(options: CopyOptions): Promise<void> {
  const { fromDir, toDir, before, after } = options;
  const from = join(fromDir, SPANS_FILE);
  const wanted = new Set(options.traceIds);
  for await (const line of linesOf(from)) {
    for (const { traceId, links } of spansOf(line) ?? []) {
      if (links.some((link) => wanted.has(link.traceId))) wanted.add(traceId);
    }
  }
  const file = new RowFile(join(toDir, SPANS_FILE), MAX_SPAN_BYTES);
  let spans = 0;
  let beyond = 0;
  for await (const line of linesOf(from)) {
    const kept = only(line, wanted);
    if (kept === undefined) continue;
    if (file.writeLine(JSON.stringify(kept.request))) spans += kept.spans;
    else beyond += kept.spans;
  }
  const { bytes } = file;
  file.close();
  const account: TracingFile = {
    schema: 'tachograph.tracing/1',
    spans,
    bytes,
    refusedRequests: after.refusedRequests - before.refusedRequests,
    droppedByLimit: after.droppedByLimit - before.droppedByLimit + beyond,
    droppedByProcess: moreOf(before.droppedByProcess, after.droppedByProcess),
  };
  await writeFile(join(toDir, TRACING_FILE), `${JSON.stringify(account, undefined, 2)}\n`);
}

const linesOf = (path: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });

function moreOf(before: TracingFile['droppedByProcess'], after: TracingFile['droppedByProcess']) {
  return Object.fromEntries(
    Object.entries(after).flatMap(([instance, dropped]) => {
      const more = dropped - (before[instance] ?? 0);
      return more > 0 ? [[instance, more]] : [];
    }),
  );
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly { readonly traceId: string }[] }[];
  }[];
}

/** The request with those spans alone; undefined: it has none of them, or is none. */
function only(
  line: string,
  wanted: ReadonlySet<string>,
): { readonly request: OtlpRequest; readonly spans: number } | undefined {
  if (!(spansOf(line) ?? []).some(({ traceId }) => wanted.has(traceId))) return undefined;
  const { resourceSpans } = JSON.parse(line) as OtlpRequest;
  let spans = 0;
  const kept = resourceSpans.map((group) => ({
    ...group,
    scopeSpans: group.scopeSpans.map((scope) => {
      const own = scope.spans.filter(({ traceId }) => wanted.has(traceId));
      spans += own.length;
      return { ...scope, spans: own };
    }),
  }));
  return { request: { resourceSpans: kept }, spans };
}
