import type { Phase } from '#kernel/core/phases.ts';
import { DELIVER_SPAN, HANDLE_SPAN } from '#kernel/telemetry/names.ts';
import { WINDOW_STAGE, type BatchWay } from './find-way.ts';
import { stageOf } from './span-index.ts';
import type { SpanRecord } from './span-record.ts';
import type { PathStep } from './trace-analysis.ts';

/** A measured stretch; epoch ms. */
interface Stretch {
  readonly stage: string;
  readonly phase: Phase;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Path {
  readonly totalMs: number;
  /** In order, without overlap; ms since the intended send time. */
  readonly steps: readonly PathStep[];
  readonly residualMs: number;
  readonly overlapMs: number;
}

/**
 * Lays the measured phases of a batch's way on one line, from its intended send time to the arrival of
 * its window's announcement at the sink. Where two claim the same time the one further on the way has
 * it, and the rest is overlap; what none claims is the residual.
 *
 * With upload 0 to 10, queue 10 to 12, nothing to 13, compute 13 to 20 and stream 18 to 25 of 25 ms:
 * residual 1 ms (12 to 13), overlap 2 ms (18 to 20), which is the stream's.
 */
export function pathOf(way: BatchWay): Path {
  const zeroMs = way.own[0]?.startMs ?? 0;
  const endMs = way.ofWindow.at(-1)?.startMs ?? zeroMs;
  const stretches = stretchesOf(way).flatMap((one) => {
    const fromMs = Math.max(one.fromMs, zeroMs);
    const untilMs = Math.min(one.untilMs, endMs);
    return untilMs > fromMs ? [{ ...one, fromMs, untilMs }] : [];
  });
  const claimedMs = stretches.reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs, 0);
  const steps = lay(stretches, zeroMs);
  const coveredMs = steps.reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs, 0);
  const totalMs = endMs - zeroMs;
  return {
    totalMs,
    steps,
    residualMs: atLeast0(totalMs - coveredMs),
    overlapMs: atLeast0(claimedMs - coveredMs),
  };
}

/** Sums of doubles of 10¹² ms are good to a tenth of a µs. */
const atLeast0 = (ms: number): number => (ms < 1e-3 ? 0 : ms);

function stretchesOf({ own, ofWindow, waitedForWindow }: BatchWay): readonly Stretch[] {
  if (!waitedForWindow) return alongWay([...own, ...ofWindow.slice(1)]);
  const ownEndMs = own.at(-1)?.endMs ?? 0;
  const closedMs = ofWindow[0]?.startMs ?? 0;
  // What the closing batch's event waited for before it was handled is part of our wait.
  return [
    ...alongWay(own).map((one) => ({ ...one, untilMs: Math.min(one.untilMs, closedMs) })),
    { stage: WINDOW_STAGE, phase: 'windowWait', fromMs: ownEndMs, untilMs: closedMs },
    ...alongWay(ofWindow, closedMs),
  ];
}

/** The marks of spans that follow each other; `fromMs`: nothing before it is taken. */
function alongWay(spans: readonly SpanRecord[], fromMs = 0): readonly Stretch[] {
  return spans.flatMap((span, at) => {
    if (span.name !== DELIVER_SPAN && span.name !== HANDLE_SPAN) return [];
    const stage = stageOf(span);
    const leftMs = span.name === HANDLE_SPAN ? storedMs(spans[at + 1]) : Infinity;
    return span.marks.flatMap(({ phase, fromUs, lengthUs }) => {
      const beginMs = Math.max(fromMs, span.startMs + fromUs / 1_000);
      // What a handler does after the event is in the stream is on nobody's way.
      const endMs = Math.min(leftMs, span.startMs + (fromUs + lengthUs) / 1_000);
      return endMs > beginMs ? [{ stage, phase, fromMs: beginMs, untilMs: endMs }] : [];
    });
  });
}

/** When the stream had the event that this delivery brings; Infinity: it does not say. */
export function storedMs(delivery: SpanRecord | undefined): number {
  const stream = delivery?.marks.find(({ phase }) => phase === 'stream');
  if (delivery === undefined) return Infinity;
  return stream === undefined ? delivery.startMs : delivery.startMs + stream.fromUs / 1_000;
}

/** Without overlap: at each moment the last of the stretches that claim it; ms since `zeroMs`. */
function lay(stretches: readonly Stretch[], zeroMs: number): readonly PathStep[] {
  const edges = [...new Set(stretches.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]))].sort(
    (a, b) => a - b,
  );
  const steps: PathStep[] = [];
  for (const [at, edgeMs] of edges.entries()) {
    const nextMs = edges[at + 1];
    if (nextMs === undefined) break;
    const holder = stretches.findLast(
      ({ fromMs, untilMs }) => fromMs <= edgeMs && untilMs >= nextMs,
    );
    if (holder === undefined) continue;
    const { stage, phase } = holder;
    const step = { stage, phase, fromMs: edgeMs - zeroMs, untilMs: nextMs - zeroMs };
    const before = steps.at(-1);
    const goesOn =
      before?.stage === stage && before.phase === phase && before.untilMs === step.fromMs;
    if (goesOn) steps[steps.length - 1] = { ...before, untilMs: step.untilMs };
    else steps.push(step);
  }
  return steps;
}
