import { AsyncLocalStorage } from 'node:async_hooks';
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { TachographError } from '../core/errors.ts';
import type { Outcome } from '../runtime/stage.ts';
import { ATTRIBUTE, HANDLE_SPAN } from './names.ts';
import {
  findParent,
  formatTraceparent,
  parseTraceparent,
  type TraceFields,
} from './propagation.ts';
import type { RequestSpan, SpanStart } from './stage-telemetry.ts';

const KINDS = { event: SpanKind.CONSUMER, request: SpanKind.SERVER } as const;

/** Makes the spans of a stage, and knows which one is at work. */
export class StageSpans {
  readonly #tracer: Tracer;
  readonly #nowMs: () => number;
  readonly #current = new AsyncLocalStorage<TraceFields>();
  #isFirst = true;

  constructor(tracer: Tracer, nowMs: () => number) {
    this.#tracer = tracer;
    this.#nowMs = nowMs;
  }

  start({ kind, startMs, headers, extensions, attributes }: SpanStart): RequestSpan {
    const parent = findParent(headers, extensions);
    const span = this.#tracer.startSpan(
      HANDLE_SPAN,
      {
        kind: KINDS[kind],
        startTime: startMs,
        attributes: {
          ...attributes,
          [ATTRIBUTE.coldStart]: this.#isFirst,
          [ATTRIBUTE.parentFrom]: parent.from,
        },
      },
      contextOf(parent.fields),
    );
    this.#isFirst = false;
    return new HandleSpan(span, this.#current, this.#nowMs);
  }

  current(): TraceFields | undefined {
    return this.#current.getStore();
  }
}

function contextOf(fields: TraceFields | undefined): Context {
  const parsed = parseTraceparent(fields?.traceparent);
  if (parsed === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, sampled } = parsed;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(fields?.tracestate === undefined
      ? {}
      : { traceState: createTraceState(fields.tracestate) }),
  });
}

class HandleSpan implements RequestSpan {
  readonly #span: Span;
  readonly #current: AsyncLocalStorage<TraceFields>;
  readonly #nowMs: () => number;

  constructor(span: Span, current: AsyncLocalStorage<TraceFields>, nowMs: () => number) {
    this.#span = span;
    this.#current = current;
    this.#nowMs = nowMs;
  }

  run<T>(work: () => T): T {
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext();
    const sampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
    const tracestate = traceState?.serialize() ?? '';
    const fields = {
      traceparent: formatTraceparent({ traceId, spanId, sampled }),
      ...(tracestate === '' ? {} : { tracestate }),
    };
    return this.#current.run(fields, work);
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
    this.#span.end(this.#nowMs());
  }
}
