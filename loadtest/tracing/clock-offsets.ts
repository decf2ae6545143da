import { DELIVER_SPAN, HANDLE_SPAN, UPLOAD_SPAN } from '#kernel/telemetry/names.ts';
import { storedMs } from './path-steps.ts';
import { stageOf, type SpanIndex } from './span-index.ts';
import type { SpanRecord } from './span-record.ts';
import type { ClockOffset } from './trace-analysis.ts';

/** The stream's own clock, by which it stamps what it stores. */
const STREAM = 'stream';
/** A summary with more would be a table of replicas. */
export const MAX_OFFSETS = 100;

interface Bounds {
  readonly service: string;
  lowMs: number;
  highMs: number;
  pairs: number;
}

/**
 * By how much the clocks of other processes are ahead of the local cluster's, as the order of cause and
 * effect bounds it: a handling begins after its request was sent, and its request was answered after it
 * began; a message is stored after it was posted and before it is delivered.
 *
 * A handler that says 12.0 for a request sent at 11.6 by the cluster's clock is at most 0.4 ms ahead; if
 * its answer was there at 13.0, it is at most 1.0 ms behind: −0.3 ± 0.7 ms.
 */
export function clockOffsets(index: SpanIndex): readonly ClockOffset[] {
  const bounds = new Map<string, Bounds>();
  for (const span of index.spans) {
    if (span.name === DELIVER_SPAN) boundReceivers(index, span, bounds);
  }
  for (const span of index.spans) {
    if (span.name === DELIVER_SPAN) boundStream(index, span, bounds);
  }
  return [...bounds]
    .filter(([, { lowMs, highMs }]) => Number.isFinite(lowMs) && Number.isFinite(highMs))
    .map(([instance, { service, lowMs, highMs, pairs }]) => ({
      instance,
      service,
      offsetMs: round((lowMs + highMs) / 2),
      boundMs: round(Math.abs(highMs - lowMs) / 2),
      pairs,
      consistent: lowMs <= highMs + TOLERANCE_MS,
    }))
    .sort((a, b) => b.pairs - a.pairs || (a.instance < b.instance ? -1 : 1))
    .slice(0, MAX_OFFSETS);
}

/** Marks are rounded to µs. */
const TOLERANCE_MS = 0.002;

const round = (ms: number): number => Math.round(ms * 1_000) / 1_000 + 0;

function boundReceivers(index: SpanIndex, delivery: SpanRecord, bounds: Map<string, Bounds>): void {
  for (const handling of index.childrenOf(delivery)) {
    if (handling.name !== HANDLE_SPAN) continue;
    narrow(bounds, handling.instance, handling.service, {
      highMs: handling.startMs - sentMs(delivery),
      lowMs: handling.startMs - delivery.endMs,
    });
  }
  const upload = index.parentOf(delivery);
  if (upload?.name !== UPLOAD_SPAN) return;
  narrow(bounds, upload.instance, upload.service, {
    lowMs: upload.startMs - delivery.startMs,
    highMs: upload.endMs - delivery.startMs,
  });
}

/** After the bounds of whoever posted are known. */
function boundStream(index: SpanIndex, delivery: SpanRecord, bounds: Map<string, Bounds>): void {
  const stream = delivery.marks.find(({ phase }) => phase === 'stream');
  const emitter = index.parentOf(delivery);
  if (stream === undefined || emitter === undefined) return;
  const stampMs = storedMs(delivery);
  const poster = bounds.get(emitter.instance);
  const postedMs = emitter.startMs - (poster?.highMs ?? 0);
  narrow(bounds, STREAM, STREAM, {
    lowMs: stampMs - delivery.startMs,
    highMs: stampMs - postedMs,
  });
}

/** When a delivery went to its process: the end of what it had waited for. */
export function sentMs(delivery: SpanRecord): number {
  const ends = delivery.marks.map(({ fromUs, lengthUs }) => fromUs + lengthUs);
  return delivery.startMs + Math.max(0, ...ends) / 1_000;
}

function narrow(
  bounds: Map<string, Bounds>,
  instance: string,
  service: string,
  { lowMs, highMs }: { readonly lowMs: number; readonly highMs: number },
): void {
  const own = bounds.get(instance) ?? { service, lowMs: -Infinity, highMs: Infinity, pairs: 0 };
  own.lowMs = Math.max(own.lowMs, lowMs);
  own.highMs = Math.min(own.highMs, highMs);
  own.pairs += 1;
  bounds.set(instance, own);
}

/** Effects before their causes along a batch's way, in words. */
export function clockFaultsOf(way: readonly SpanRecord[]): readonly string[] {
  return way.flatMap((span, at) => {
    const next = way[at + 1];
    if (next === undefined) return [];
    if (span.name === DELIVER_SPAN && next.name === HANDLE_SPAN) {
      return told(sentMs(span) - next.startMs, next, 'begins before it was sent there');
    }
    if (span.name === HANDLE_SPAN && next.name === DELIVER_SPAN) {
      return told(span.startMs - storedMs(next), next, 'was stored before it was made');
    }
    return [];
  });
}

function told(byMs: number, span: SpanRecord, what: string): readonly string[] {
  if (byMs <= TOLERANCE_MS) return [];
  const who = `${span.name} of ${stageOf(span)}${span.instance === '' ? '' : ` (${span.instance})`}`;
  return [`${who} ${what}, by ${round(byMs)} ms`];
}
