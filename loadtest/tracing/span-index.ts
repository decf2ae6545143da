import { ATTRIBUTE, BATCH_SPAN, DELIVER_SPAN, HANDLE_SPAN } from '#kernel/telemetry/names.ts';
import { SINK } from './arrival-span.ts';
import type { SpanRecord } from './span-record.ts';

/** Window of a session, or batch of one, as a key. */
export const keyOf = (vehicle: unknown, session: unknown, number: unknown): string =>
  `${String(vehicle)}/${String(session)}/${String(number)}`;

/** The spans of a run, findable. */
export class SpanIndex {
  readonly spans: readonly SpanRecord[];
  readonly #byId = new Map<string, SpanRecord>();
  readonly #byTrace = new Map<string, SpanRecord[]>();
  readonly #children = new Map<string, SpanRecord[]>();
  readonly #arrivals = new Map<string, SpanRecord[]>();
  readonly #linking = new Map<string, SpanRecord[]>();
  readonly #roots = new Map<string, SpanRecord>();

  constructor(spans: readonly SpanRecord[]) {
    this.spans = spans;
    for (const span of spans) {
      this.#byId.set(span.spanId, span);
      push(this.#byTrace, span.traceId, span);
      if (span.parentSpanId !== null) push(this.#children, span.parentSpanId, span);
      for (const { traceId } of span.links) push(this.#linking, traceId, span);
      const { attributes: a } = span;
      const vehicle = a[ATTRIBUTE.vehicle];
      const session = a[ATTRIBUTE.session];
      if (span.name === BATCH_SPAN) this.#roots.set(span.traceId, span);
      if (span.name === HANDLE_SPAN && stageOf(span) === SINK && ATTRIBUTE.window in a) {
        push(this.#arrivals, keyOf(vehicle, session, a[ATTRIBUTE.window]), span);
      }
    }
    for (const arrivals of this.#arrivals.values()) {
      arrivals.sort((one, other) => one.startMs - other.startMs);
    }
  }

  /** undefined: it has none, or it is in no file. */
  parentOf(span: SpanRecord): SpanRecord | undefined {
    return span.parentSpanId === null ? undefined : this.#byId.get(span.parentSpanId);
  }

  childrenOf(span: SpanRecord): readonly SpanRecord[] {
    return this.#children.get(span.spanId) ?? [];
  }

  get(spanId: string): SpanRecord | undefined {
    return this.#byId.get(spanId);
  }

  trace(traceId: string): readonly SpanRecord[] {
    return this.#byTrace.get(traceId) ?? [];
  }

  /** The `batch` span of a trace. */
  rootOf(traceId: string): SpanRecord | undefined {
    return this.#roots.get(traceId);
  }

  /** Arrivals of a window's announcements at the sink, the first one first. */
  arrivalsOf(windowKey: string): readonly SpanRecord[] {
    return this.#arrivals.get(windowKey) ?? [];
  }

  /** Spans of other traces that link to this one. */
  linkingTo(traceId: string): readonly SpanRecord[] {
    return this.#linking.get(traceId) ?? [];
  }

  /** Spans whose parent is in no file. */
  orphans(): readonly SpanRecord[] {
    return this.spans.filter(
      ({ parentSpanId }) => parentSpanId !== null && !this.#byId.has(parentSpanId),
    );
  }
}

/** The stage a span leads to or is in. */
export const stageOf = (span: SpanRecord): string =>
  String(span.attributes[ATTRIBUTE.faasName] ?? span.service);

export const isDelivery = (span: SpanRecord): boolean => span.name === DELIVER_SPAN;

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
