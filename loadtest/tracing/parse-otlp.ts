import { parseMarks, PHASES } from '#kernel/core/phases.ts';
import { ATTRIBUTE } from '#kernel/telemetry/names.ts';
import type { SpanAttribute, SpanLink, SpanRecord } from './span-record.ts';

type Json = Readonly<Record<string, unknown>>;

/** The spans of one ExportTraceServiceRequest in OTLP/JSON; undefined for what is none. */
export function spansOf(text: string): readonly SpanRecord[] | undefined {
  try {
    const request = JSON.parse(text) as Json;
    const spans: SpanRecord[] = [];
    for (const group of listOf(request, 'resourceSpans')) {
      const resource = attributesOf((group['resource'] as Json | undefined) ?? {});
      for (const scope of listOf(group, 'scopeSpans')) {
        for (const span of listOf(scope, 'spans')) spans.push(recordOf(span, resource));
      }
    }
    return spans;
  } catch {
    return undefined;
  }
}

function listOf(value: Json, name: string): readonly Json[] {
  const list = value[name] ?? [];
  if (!Array.isArray(list)) throw new TypeError(`${name} is no list`);
  return list as Json[];
}

function recordOf(span: Json, resource: SpanRecord['attributes']): SpanRecord {
  const attributes = attributesOf(span);
  const status = (span['status'] as Json | undefined) ?? {};
  const parent = span['parentSpanId'];
  const marks = parseMarks(String(attributes[ATTRIBUTE.phases] ?? ''), PHASES);
  return {
    traceId: textOf(span['traceId']),
    spanId: textOf(span['spanId']),
    parentSpanId: typeof parent === 'string' && parent !== '' ? parent : null,
    name: textOf(span['name']),
    startMs: epochMsOf(span['startTimeUnixNano']),
    endMs: epochMsOf(span['endTimeUnixNano']),
    attributes,
    links: listOf(span, 'links').map(linkOf),
    // STATUS_CODE_ERROR
    error: status['code'] === 2,
    errorMessage: typeof status['message'] === 'string' ? status['message'] : '',
    service: String(resource[ATTRIBUTE.serviceName] ?? ''),
    instance: String(resource[ATTRIBUTE.serviceInstanceId] ?? ''),
    marks: marks ?? [],
  };
}

const linkOf = (link: Json): SpanLink => ({
  traceId: textOf(link['traceId']),
  spanId: textOf(link['spanId']),
  attributes: attributesOf(link),
});

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text');
  return value;
}

/** Decimal ns as text; a double has 256 ns at that size, so the parts are taken one by one. */
function epochMsOf(value: unknown): number {
  const text = typeof value === 'number' ? String(value) : textOf(value);
  if (!/^\d{1,20}$/.test(text)) throw new TypeError('no time');
  const ms = text.slice(0, -6);
  return Number(ms) + Number(text.slice(-6)) / 1_000_000;
}

function attributesOf(holder: Json): Record<string, SpanAttribute> {
  const attributes: Record<string, SpanAttribute> = {};
  for (const { key, value } of listOf(holder, 'attributes')) {
    const read = valueOf((value as Json | undefined) ?? {});
    if (read !== undefined) attributes[textOf(key)] = read;
  }
  return attributes;
}

/** Lists and bytes are nobody's attributes here. */
function valueOf(value: Json): SpanAttribute | undefined {
  const { stringValue, boolValue, intValue, doubleValue } = value;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  // 64-bit integers are text in OTLP/JSON; small ones may be numbers.
  const number = intValue ?? doubleValue;
  if (number === undefined || number === null) return undefined;
  return Number(number);
}
