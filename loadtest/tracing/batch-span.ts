import { parseTraceparent, type TraceFields } from '#kernel/telemetry/propagation.ts';
import { ATTRIBUTE, BATCH_SPAN, UPLOAD_SPAN } from '#kernel/telemetry/names.ts';
import type { ProcessSpan, ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import type { Verdict } from '#loadtest/vehicles/upload-verdict.ts';

export interface TracedBatch {
  readonly vehicle: string;
  readonly session: string;
  readonly seq: number;
  /** Epoch ms as the tracing has it. */
  readonly intendedMs: number;
}

/** The trace of one batch, from its intended send time to its final answer. */
export class BatchSpan {
  readonly #tracing: ProcessTracing;
  readonly #span: ProcessSpan;
  #attempts = 0;
  #isEnded = false;

  constructor(tracing: ProcessTracing, batch: TracedBatch) {
    this.#tracing = tracing;
    const { vehicle, session, seq, intendedMs } = batch;
    this.#span = tracing.startSpan({
      name: BATCH_SPAN,
      kind: 'internal',
      startMs: intendedMs,
      parent: undefined,
      attributes: {
        [ATTRIBUTE.vehicle]: vehicle,
        [ATTRIBUTE.session]: session,
        [ATTRIBUTE.seq]: seq,
      },
    });
  }

  /** null: its trace is not sampled, and nothing of it is in any file. */
  get traceId(): string | null {
    if (!this.#span.sampled) return null;
    return parseTraceparent(this.#span.place.traceparent)?.traceId ?? null;
  }

  /** One attempt of an upload begins. */
  upload(): UploadSpan {
    const tracing = this.#tracing;
    const span = tracing.startSpan({
      name: UPLOAD_SPAN,
      kind: 'client',
      startMs: tracing.nowMs(),
      parent: this.#span.place,
      attributes: { [ATTRIBUTE.httpMethod]: 'POST', [ATTRIBUTE.httpResendCount]: this.#attempts },
    });
    this.#attempts += 1;
    return { place: span.place, end: (verdict) => endUpload(span, verdict, tracing.nowMs()) };
  }

  /** It has its final answer, or will have none; may be called again. */
  end(outcome: string, isDuplicate: boolean): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#span.set(ATTRIBUTE.outcome, outcome);
    if (isDuplicate) this.#span.set(ATTRIBUTE.duplicate, true);
    if (outcome !== 'stored') this.#span.fail(outcome, `the batch is ${outcome}`);
    this.#span.end(this.#tracing.nowMs());
  }
}

export interface UploadSpan {
  readonly place: TraceFields;
  end(verdict: Verdict): void;
}

function endUpload(span: ProcessSpan, verdict: Verdict, nowMs: number): void {
  if (verdict.kind === 'duplicate') span.set(ATTRIBUTE.duplicate, true);
  if (verdict.kind === 'retry' || verdict.kind === 'refused') {
    span.fail(verdict.kind, verdict.detail);
  }
  span.end(nowMs);
}
