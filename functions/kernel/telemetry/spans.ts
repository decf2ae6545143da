import { AsyncLocalStorage } from 'node:async_hooks';
import { SpanKind, SpanStatusCode, type Span, type Tracer } from '@opentelemetry/api';
import { TachographError } from '../core/errors.ts';
import type { Phase } from '../core/phases.ts';
import { parseRequestStart, REQUEST_START } from '../core/request-start.ts';
import type { Outcome } from '../runtime/stage.ts';
import { ATTRIBUTE, HANDLE_SPAN } from './names.ts';
import { PhaseClock } from './phase-clock.ts';
import { phaseAttributes } from './phase-attributes.ts';
import { contextOf, placeOf, spanContextOf } from './places.ts';
import { findParent, parseTraceparent, type TraceFields } from './propagation.ts';
import type { AttributeValue, RequestSpan, SpanStart } from './stage-telemetry.ts';

const KINDS = { event: SpanKind.CONSUMER, request: SpanKind.SERVER } as const;
const TRIGGERS = { event: 'pubsub', request: 'http' } as const;

export interface StageSpansOptions {
  readonly tracer: Tracer;
  readonly nowMs: () => number;
  /** Of the store whose calls are a phase: `sqlite` or `mongodb`. */
  readonly dbSystem: string;
  /** What is not sampled where it comes from is not sampled here either. */
  readonly followsParent: boolean;
}

const isSampledAt = ({ traceparent }: TraceFields): boolean =>
  parseTraceparent(traceparent)?.sampled === true;

/** Makes the spans of a stage, and knows which one is at work. */
export class StageSpans {
  readonly #options: StageSpansOptions;
  readonly #current = new AsyncLocalStorage<RequestSpan>();
  #isFirst = true;

  constructor(options: StageSpansOptions) {
    this.#options = options;
  }

  start({ kind, startMs, headers, extensions, attributes }: SpanStart): RequestSpan {
    const { tracer, nowMs, dbSystem } = this.#options;
    const parent = findParent(headers, extensions);
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const run = <T>(own: RequestSpan, work: () => T): T => this.#current.run(own, work);
    // Most events of a study that samples one in a hundred: nothing is made for them.
    if (this.#options.followsParent && parent.fields !== undefined && !isSampledAt(parent.fields)) {
      return new UnsampledSpan(parent.fields, run);
    }
    const span = tracer.startSpan(
      HANDLE_SPAN,
      {
        kind: KINDS[kind],
        startTime: startMs,
        attributes: {
          ...attributes(),
          [ATTRIBUTE.dbSystem]: dbSystem,
          [ATTRIBUTE.faasTrigger]: TRIGGERS[kind],
          [ATTRIBUTE.coldStart]: isFirst,
          [ATTRIBUTE.parentFrom]: parent.from,
        },
      },
      contextOf(parent.fields),
    );
    if (!span.isRecording()) return new UnsampledSpan(placeOf(span.spanContext()), run);
    const phases = new PhaseClock(startMs, nowMs);
    const sentMs = parseRequestStart(headers[REQUEST_START]);
    // From the sender's clock: one that is ahead of ours makes no negative wait, but none at all.
    if (sentMs !== undefined) phases.mark('queue', sentMs, startMs);
    return new HandleSpan(span, phases, nowMs, run);
  }

  current(): RequestSpan | undefined {
    return this.#current.getStore();
  }
}

type Run = <T>(own: RequestSpan, work: () => T) => T;

class HandleSpan implements RequestSpan {
  readonly place: TraceFields;
  readonly #span: Span;
  readonly #phases: PhaseClock;
  readonly #nowMs: () => number;
  readonly #run: Run;
  #storeCalls = 0;

  constructor(span: Span, phases: PhaseClock, nowMs: () => number, run: Run) {
    this.place = placeOf(span.spanContext());
    this.#span = span;
    this.#phases = phases;
    this.#nowMs = nowMs;
    this.#run = run;
  }

  run<T>(work: () => T): T {
    return this.#run(this, work);
  }

  enter(phase: Phase): () => void {
    if (phase === 'store') this.#storeCalls += 1;
    return this.#phases.enter(phase);
  }

  mark(phase: Phase, fromMs: number, untilMs: number): void {
    this.#phases.mark(phase, fromMs, untilMs);
  }

  link(place: TraceFields, attributes: Readonly<Record<string, AttributeValue>>): void {
    const context = spanContextOf(place);
    if (context !== undefined) this.#span.addLink({ context, attributes });
  }

  set(name: string, value: AttributeValue): void {
    this.#span.setAttribute(name, value);
  }

  noteOutcome(outcome: Outcome): void {
    this.#span.setAttribute(ATTRIBUTE.outcome, outcome.kind);
    if (outcome.kind !== 'done') this.#span.setAttribute(ATTRIBUTE.outcomeReason, outcome.reason);
  }

  noteFailure(error: unknown): void {
    const code = error instanceof TachographError ? error.code : 'INTERNAL';
    this.#span.setAttribute(ATTRIBUTE.errorType, code);
    const message = error instanceof Error ? error.message : String(error);
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
  }

  end(status: number | null): void {
    if (status === null) this.noteFailure(new TachographError('CALLER_GONE'));
    else {
      this.#span.setAttribute(ATTRIBUTE.httpStatus, status);
      // A 4xx is the caller's fault, and no failure of a server's span.
      if (status >= 500) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    const endMs = this.#nowMs();
    this.#span.setAttributes(phaseAttributes(this.#phases.end(endMs)));
    if (this.#storeCalls > 0) this.#span.setAttribute(ATTRIBUTE.storeCalls, this.#storeCalls);
    this.#span.end(endMs);
  }
}

const NOTHING = (): void => {};

/** Of a trace that is not sampled: hands a place on (its parent's, or a new one), and costs nothing else. */
class UnsampledSpan implements RequestSpan {
  readonly place: TraceFields;
  readonly #run: Run;

  constructor(place: TraceFields, run: Run) {
    this.place = place;
    this.#run = run;
  }

  run<T>(work: () => T): T {
    return this.#run(this, work);
  }

  enter(): () => void {
    return NOTHING;
  }

  mark(): void {}
  link(): void {}
  set(): void {}
  noteOutcome(): void {}
  noteFailure(): void {}
  end(): void {}
}
