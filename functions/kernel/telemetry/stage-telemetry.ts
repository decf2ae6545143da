import type { Phase } from '../core/phases.ts';
import type { Outcome } from '../runtime/stage.ts';
import type { TraceFields } from './propagation.ts';

/** What a span's attributes may be. */
export type AttributeValue = string | number | boolean;

export interface SpanStart {
  readonly kind: 'event' | 'request';
  /** Epoch ms of the arrival, with a fraction. */
  readonly startMs: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Of the event, where there is one. */
  readonly extensions?: Readonly<Record<string, string | undefined>>;
  /** Asked for where the span is recorded. */
  readonly attributes: () => Readonly<Record<string, AttributeValue>>;
}

/** The span of one event or request. */
export interface RequestSpan {
  /** Its place in the trace, for what it causes. */
  readonly place: TraceFields;
  /** Does the work; what it emits, now or later, continues this span. */
  run<T>(work: () => T): T;
  /** A stretch of a phase begins; the function returned ends it. Several may be under way at once. */
  enter(phase: Phase): () => void;
  /** A stretch that has ended; epoch ms. */
  mark(phase: Phase, fromMs: number, untilMs: number): void;
  /** Another trace that this one goes on for as well. */
  link(place: TraceFields, attributes: Readonly<Record<string, AttributeValue>>): void;
  set(name: string, value: AttributeValue): void;
  noteOutcome(outcome: Outcome): void;
  noteFailure(error: unknown): void;
  /** Ends it; `status` is what the caller was answered, null: it had gone. */
  end(status: number | null): void;
}

/** A stage's tracing while it runs. There is none where no collector is set. */
export interface StageTelemetry {
  /** Now, as spans have it: epoch ms with a fraction. */
  nowMs(): number;
  start(start: SpanStart): RequestSpan;
  /** The span of what runs at the moment; undefined outside of one. */
  current(): RequestSpan | undefined;
  /** Spans that were not delivered: the queue was full, or the collector did not take them. */
  readonly dropped: number;
  /** Sends what is waiting, for at most so long. */
  stop(limitMs: number): Promise<void>;
}
