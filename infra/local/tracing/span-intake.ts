import { join } from 'node:path';
import { RowFile } from '#infra/local/row-file.ts';
import { SPANS_FILE, type TracingFile } from './tracing-file.ts';

export interface SpanRequest {
  readonly body: Buffer;
  /** Whose spans; '' where it is not said. */
  readonly instance: string;
  /** Dropped by that process since its start; '' where it is not said. */
  readonly dropped: string;
}

/** `taken`: it is in the file, or counted as missing. `refused`: it is not what it should be. */
export type Intake =
  | { readonly kind: 'taken'; readonly spans: number; readonly rejected: number }
  | { readonly kind: 'refused'; readonly why: string };

/** Six hours of a small pipeline; a demo has a few MB. */
export const MAX_SPAN_BYTES = 1_073_741_824;
/** Replicas come and go; what is beyond is counted together. */
const MAX_INSTANCES = 10_000;
const OTHERS = '(others)';

/** Takes requests with spans into a folder's file, and keeps the account. */
export class SpanIntake {
  readonly #file: RowFile;
  readonly #droppedByProcess = new Map<string, number>();
  #spans = 0;
  #refused = 0;
  #droppedByLimit = 0;

  /** Makes the file anew in `folder`, which exists. */
  constructor(folder: string, maxBytes = MAX_SPAN_BYTES) {
    this.#file = new RowFile(join(folder, SPANS_FILE), maxBytes);
  }

  take({ body, instance, dropped }: SpanRequest): Intake {
    const text = body.toString('utf8');
    const counted = countSpans(text);
    if (typeof counted === 'string') {
      this.#refused += 1;
      return { kind: 'refused', why: counted };
    }
    this.#noteDropped(instance, dropped);
    if (counted.spans === 0) return { kind: 'taken', spans: 0, rejected: 0 };
    // One line each: a sender may have laid it out over several.
    const line = text.includes('\n') ? JSON.stringify(counted.parsed) : text;
    if (!this.#file.writeLine(line)) {
      this.#droppedByLimit += counted.spans;
      return { kind: 'taken', spans: 0, rejected: counted.spans };
    }
    this.#spans += counted.spans;
    return { kind: 'taken', spans: counted.spans, rejected: 0 };
  }

  /** Why spans are missing since some moment; undefined: none is. */
  get problem(): string | undefined {
    return this.#file.reason;
  }

  account(): TracingFile {
    return {
      schema: 'tachograph.tracing/1',
      spans: this.#spans,
      bytes: this.#file.bytes,
      refusedRequests: this.#refused,
      droppedByLimit: this.#droppedByLimit,
      droppedByProcess: Object.fromEntries(this.#droppedByProcess),
    };
  }

  close(): void {
    this.#file.close();
  }

  /** The largest that was said: counts of one process only grow, but requests may overtake each other. */
  #noteDropped(instance: string, dropped: string): void {
    if (!/^[1-9]\d{0,14}$/.test(dropped)) return;
    const isKnown = this.#droppedByProcess.has(instance);
    const name = isKnown || this.#droppedByProcess.size < MAX_INSTANCES ? instance : OTHERS;
    const before = this.#droppedByProcess.get(name) ?? 0;
    this.#droppedByProcess.set(name, Math.max(before, Number(dropped)));
  }
}

interface Counted {
  readonly spans: number;
  readonly parsed: unknown;
}

/** How many spans a request holds; a text: why it is none. */
function countSpans(text: string): Counted | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'the body is no JSON';
  }
  let spans = 0;
  for (const resource of listOf(parsed, 'resourceSpans') ?? [null]) {
    for (const scope of listOf(resource, 'scopeSpans') ?? [null]) {
      for (const span of listOf(scope, 'spans') ?? [null]) {
        if (!isSpan(span)) return 'the body is no ExportTraceServiceRequest of OTLP/JSON';
        spans += 1;
      }
    }
  }
  return { spans, parsed };
}

/** undefined for what has no such list. */
function listOf(value: unknown, name: string): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const list = (value as Record<string, unknown>)[name];
  return Array.isArray(list) ? list : undefined;
}

function isSpan(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { traceId, spanId, name } = value as Record<string, unknown>;
  return isHex(traceId, 32) && isHex(spanId, 16) && typeof name === 'string';
}

const isHex = (value: unknown, length: number): boolean =>
  typeof value === 'string' && value.length === length && /^[0-9a-f]+$/i.test(value);
