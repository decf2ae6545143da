import type { PhaseMark } from '#kernel/core/phases.ts';

export type SpanAttribute = string | number | boolean;

/** A span of a run, as spans.ndjson has it. Times: epoch ms with a fraction, of the process's own clock. */
export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  /** null: a root. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, SpanAttribute>>;
  readonly links: readonly SpanLink[];
  readonly error: boolean;
  /** What the status says; '' nothing. */
  readonly errorMessage: string;
  /** Of the resource: `service.name` and `service.instance.id`. */
  readonly service: string;
  readonly instance: string;
  /** Phases, as the span's attribute says; empty where it has none. */
  readonly marks: readonly PhaseMark[];
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Readonly<Record<string, SpanAttribute>>;
}
