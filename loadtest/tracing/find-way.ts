import { ATTRIBUTE, BATCH_SPAN, HANDLE_SPAN } from '#kernel/telemetry/names.ts';
import { isDelivery, stageOf, type SpanIndex } from './span-index.ts';
import type { SpanRecord } from './span-record.ts';

/** The stage whose handling closes windows. */
export const WINDOW_STAGE = 'data-provider';

/** One batch's way through the pipeline: spans, from its vehicle to the sink. */
export interface BatchWay {
  /** `batch`, `upload`, `deliver`, `handle`, … of its own trace. */
  readonly own: readonly SpanRecord[];
  /**
   * From the handling that closed its window to the sink; the first one is also the last of `own` where
   * its own event closed it.
   */
  readonly ofWindow: readonly SpanRecord[];
  /** Its window was closed by another batch's event, or by a tick. */
  readonly waitedForWindow: boolean;
}

/** `missing`: what is not there, in words. */
export type FoundWay =
  | { readonly way: BatchWay }
  | { readonly way: undefined; readonly missing: string };

/**
 * Goes up from the arrivals of the batch's window at the sink, the first one first, to the handling that
 * closed the window: it is this batch's if it lies in its trace or links to it. From there, or from the
 * batch's own handling there, up to its vehicle.
 */
export function findWay(index: SpanIndex, traceId: string, windowKey: string): FoundWay {
  const arrivals = index.arrivalsOf(windowKey);
  let broken: SpanRecord | undefined;
  for (const arrival of arrivals) {
    const ofWindow = wayUp(index, arrival, (span) => isWindowHandling(span));
    const closing = ofWindow[0];
    if (closing === undefined || !isWindowHandling(closing)) {
      broken = closing;
      continue;
    }
    const last = closing.traceId === traceId ? closing : ownHandling(index, closing, traceId);
    if (last === undefined) continue;
    const own = wayUp(index, last, (span) => span.name === BATCH_SPAN);
    if (own[0]?.name !== BATCH_SPAN) {
      return { way: undefined, missing: `the span before ${nameOf(own[0])}` };
    }
    return { way: { own, ofWindow, waitedForWindow: closing !== last } };
  }
  return { way: undefined, missing: missingIn(windowKey, arrivals, broken) };
}

/** Spans from the first that `isTop` says is one, or the uppermost that is there, down to `from`. */
function wayUp(
  index: SpanIndex,
  from: SpanRecord,
  isTop: (span: SpanRecord) => boolean,
): readonly SpanRecord[] {
  const way = [from];
  // A trace that leads back to itself is none of ours; MAX_WAY ends the walk.
  for (let span = from; !isTop(span) && way.length < MAX_WAY;) {
    const parent = index.parentOf(span);
    if (parent === undefined) break;
    way.unshift(parent);
    span = parent;
  }
  return way;
}

/** A process that was killed takes the spans along that it had not sent yet. */
function missingIn(
  windowKey: string,
  arrivals: readonly SpanRecord[],
  broken: SpanRecord | undefined,
): string {
  if (arrivals.length === 0) return `an arrival of window ${windowKey} at the sink`;
  if (broken !== undefined) return `what comes before "${nameOf(broken)}" of window ${windowKey}`;
  return `the way from its trace to window ${windowKey}`;
}

/** Nine hops would be six too many. */
const MAX_WAY = 64;

const isWindowHandling = (span: SpanRecord): boolean =>
  span.name === HANDLE_SPAN && stageOf(span) === WINDOW_STAGE;

/** The handling of the batch's own event, by the link from the one that closed its window. */
function ownHandling(
  index: SpanIndex,
  closing: SpanRecord,
  traceId: string,
): SpanRecord | undefined {
  const link = closing.links.find((one) => one.traceId === traceId);
  const reception = link === undefined ? undefined : index.get(link.spanId);
  if (reception === undefined) return undefined;
  const handlings = index
    .childrenOf(reception)
    .filter((span) => isDelivery(span) && stageOf(span) === WINDOW_STAGE)
    .flatMap((delivery) => index.childrenOf(delivery).filter(isWindowHandling));
  // Another one's event may find our receipt before our own event is handled: then nobody waited for that.
  const isBefore = (span: SpanRecord): boolean => span.endMs <= closing.startMs;
  return handlings.findLast((span) => isDone(span) && isBefore(span)) ?? reception;
}

const isDone = (span: SpanRecord): boolean => span.attributes[ATTRIBUTE.outcome] === 'done';

const nameOf = (span: SpanRecord | undefined): string =>
  span === undefined ? 'nothing' : `${span.name} of ${stageOf(span)}`;
