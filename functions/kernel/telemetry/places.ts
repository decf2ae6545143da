import {
  createTraceState,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Context,
  type SpanContext,
} from '@opentelemetry/api';
import { formatTraceparent, parseTraceparent, type TraceFields } from './propagation.ts';

/** The API's context that a span begins from; the root where there is no proper place. */
export function contextOf(fields: TraceFields | undefined): Context {
  const found = spanContextOf(fields);
  return found === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, found);
}

export function spanContextOf(fields: TraceFields | undefined): SpanContext | undefined {
  const parsed = parseTraceparent(fields?.traceparent);
  if (parsed === undefined) return undefined;
  const { traceId, spanId, sampled } = parsed;
  return {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(fields?.tracestate === undefined
      ? {}
      : { traceState: createTraceState(fields.tracestate) }),
  };
}

export const isSampled = ({ traceFlags }: SpanContext): boolean =>
  (traceFlags & TraceFlags.SAMPLED) !== 0;

/** Where a span is, as it is written into headers and extensions. */
export function placeOf(context: SpanContext): TraceFields {
  const { traceId, spanId, traceState } = context;
  const tracestate = traceState?.serialize() ?? '';
  return {
    traceparent: formatTraceparent({ traceId, spanId, sampled: isSampled(context) }),
    ...(tracestate === '' ? {} : { tracestate }),
  };
}
