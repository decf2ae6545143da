import type { Phase } from '#kernel/core/phases.ts';
import { ATTRIBUTE } from '#kernel/telemetry/names.ts';
import { stageOf } from './span-index.ts';
import type { SpanRecord } from './span-record.ts';

/** One span as a row of a waterfall; ms since its begin. */
export interface WaterfallRow {
  readonly depth: number;
  /** `deliver → export`, `handle export`. */
  readonly label: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly phases: readonly {
    readonly phase: Phase;
    readonly fromMs: number;
    readonly untilMs: number;
  }[];
  /** What there is to say of it in words: `attempt 2`, `failed: …`, `duplicate`. */
  readonly notes: readonly string[];
  readonly failed: boolean;
}

export interface Waterfall {
  readonly lengthMs: number;
  readonly rows: readonly WaterfallRow[];
}

/** Spans as a tree in order of time, children below their parent; roots and orphans at the left. */
export function waterfallOf(spans: readonly SpanRecord[]): Waterfall {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const byParent = Map.groupBy([...spans].sort(byStart), ({ parentSpanId }) =>
    parentSpanId !== null && ids.has(parentSpanId) ? parentSpanId : null,
  );
  const zeroMs = Math.min(...spans.map(({ startMs }) => startMs));
  const endMs = Math.max(...spans.map((span) => span.endMs));
  const rows: WaterfallRow[] = [];
  const visit = (span: SpanRecord, depth: number): void => {
    rows.push(rowOf(span, depth, zeroMs));
    for (const child of byParent.get(span.spanId) ?? []) visit(child, depth + 1);
  };
  for (const root of byParent.get(null) ?? []) visit(root, 0);
  return { lengthMs: spans.length === 0 ? 0 : endMs - zeroMs, rows };
}

const byStart = (a: SpanRecord, b: SpanRecord): number => a.startMs - b.startMs;

function rowOf(span: SpanRecord, depth: number, zeroMs: number): WaterfallRow {
  const fromMs = span.startMs - zeroMs;
  return {
    depth,
    label: labelOf(span),
    fromMs,
    untilMs: span.endMs - zeroMs,
    phases: span.marks.map(({ phase, fromUs, lengthUs }) => ({
      phase,
      fromMs: fromMs + fromUs / 1_000,
      untilMs: fromMs + (fromUs + lengthUs) / 1_000,
    })),
    notes: notesOf(span),
    failed: span.error,
  };
}

function labelOf(span: SpanRecord): string {
  const { name, attributes } = span;
  if (name === 'deliver') return `deliver → ${stageOf(span)}`;
  if (name === 'handle') return `handle ${stageOf(span)}`;
  const seq = attributes[ATTRIBUTE.seq];
  return seq === undefined ? name : `${name} ${seq}`;
}

function notesOf({ attributes, error, errorMessage, links }: SpanRecord): readonly string[] {
  const notes: string[] = [];
  const attempt = Number(attributes[ATTRIBUTE.attempt] ?? 1);
  if (attempt > 1) notes.push(`attempt ${attempt}`);
  const resent = Number(attributes[ATTRIBUTE.httpResendCount] ?? 0);
  if (resent > 0) notes.push(`attempt ${resent + 1}`);
  if (attributes[ATTRIBUTE.deadLetter] === true) notes.push('to the dead letter sink');
  if (attributes[ATTRIBUTE.coldStartParts] !== undefined) notes.push('cold');
  if (attributes[ATTRIBUTE.duplicate] === true) notes.push('duplicate');
  const outcome = attributes[ATTRIBUTE.outcome];
  if (outcome === 'parked' || outcome === 'retry') {
    notes.push(`${outcome}: ${String(attributes[ATTRIBUTE.outcomeReason] ?? '')}`);
  }
  if (error) notes.push(`failed: ${String(attributes[ATTRIBUTE.errorType] ?? errorMessage)}`);
  if (links.length > 0) notes.push(`links to ${links.length} other batches`);
  return notes;
}
