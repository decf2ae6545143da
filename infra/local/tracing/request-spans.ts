import { HopNotes } from '#eventing/dispatch/hop-notes.ts';
import { INTENDED, parseIntended } from '#kernel/core/intended-time.ts';
import { REQUEST_START } from '#kernel/core/request-start.ts';
import type {
  GatewaySpan,
  RequestTracing,
  TracedRequest,
} from '#infra/local/data-path/request-tracing.ts';
import { ATTRIBUTE, DELIVER_SPAN } from '#kernel/telemetry/names.ts';
import type { ProcessSpan, ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import { findParent } from '#kernel/telemetry/propagation.ts';
import type { AttributeValue } from '#kernel/telemetry/stage-telemetry.ts';
import { noteHop, type HopSpanContext } from './hop-span.ts';

/** `deliver` spans of the gateway, one for each request to a Service. */
export function requestSpans(tracing: ProcessTracing, context: HopSpanContext): RequestTracing {
  return {
    begin(request) {
      const { headers } = request;
      const startMs = tracing.nowMs();
      const parent = findParent(headers, {
        traceparent: single(headers['ce-traceparent']),
        tracestate: single(headers['ce-tracestate']),
        tachotrace: single(headers['ce-tachotrace']),
      });
      const span = tracing.startSpan({
        name: DELIVER_SPAN,
        kind: 'server',
        startMs,
        parent: parent.fields,
        attributes: attributesOf(request, parent.from),
      });
      const intendedMs = parseIntended(headers[`ce-${INTENDED}`]);
      return new RequestDeliverySpan({ span, startMs, intendedMs, tracing, context });
    },
  };
}

interface Begun {
  readonly span: ProcessSpan;
  readonly startMs: number;
  readonly intendedMs: number | undefined;
  readonly tracing: ProcessTracing;
  readonly context: HopSpanContext;
}

class RequestDeliverySpan implements GatewaySpan {
  readonly hop: HopNotes;
  readonly #begun: Begun;

  constructor(begun: Begun) {
    this.#begun = begun;
    this.hop = new HopNotes(begun.context.toEpochMs);
  }

  noteRead(bodyBytes: number): void {
    this.#begun.span.set(ATTRIBUTE.httpBodyBytes, bodyBytes);
  }

  withContext(headers: readonly string[]): readonly string[] {
    const passed: string[] = [];
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] ?? '';
      if (!REPLACED.has(name.toLowerCase())) passed.push(name, headers[index + 1] ?? '');
    }
    const { traceparent, tracestate } = this.#begun.span.place;
    passed.push('traceparent', traceparent);
    if (tracestate !== undefined) passed.push('tracestate', tracestate);
    return passed;
  }

  end(status: number | null, code: string): void {
    const { span, startMs, intendedMs, tracing, context } = this.#begun;
    const { enteredMs } = this.hop;
    const readMs = enteredMs === undefined ? tracing.nowMs() : context.toEpochMs(enteredMs);
    span.mark('upload', intendedMs ?? startMs, readMs);
    noteHop(span, startMs, this.hop, context);
    if (status !== null) span.set(ATTRIBUTE.httpStatus, status);
    if (status === null) span.fail('CALLER_GONE', 'the caller went away');
    else if (status >= 500) span.fail(code === '' ? String(status) : code, `answered ${status}`);
    span.end(tracing.nowMs());
  }
}

/** What the caller says of itself is not what the next one is told; its send time means another leg. */
const REPLACED = new Set(['traceparent', 'tracestate', REQUEST_START]);

const single = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

function attributesOf(
  { service, method, path, headers }: TracedRequest,
  parentFrom: string,
): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {
    [ATTRIBUTE.httpMethod]: method,
    // Without the query, which may hold what is nobody's business.
    [ATTRIBUTE.urlPath]: path.split('?', 1)[0] ?? '/',
    [ATTRIBUTE.faasName]: service,
    [ATTRIBUTE.faasTrigger]: 'http',
    [ATTRIBUTE.parentFrom]: parentFrom,
  };
  const ofEvent = [
    [ATTRIBUTE.eventId, 'ce-id'],
    [ATTRIBUTE.eventType, 'ce-type'],
  ] as const;
  for (const [name, header] of ofEvent) {
    const value = single(headers[header]);
    if (value !== undefined) attributes[name] = value;
  }
  return attributes;
}
