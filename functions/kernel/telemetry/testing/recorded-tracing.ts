import type { PhaseMark } from '../../core/phases.ts';
import type { ProcessSpanStart, ProcessTracing } from '../process-tracing.ts';
import type { AttributeValue } from '../stage-telemetry.ts';

/** A span that was made. */
export interface RecordedSpan {
  readonly start: ProcessSpanStart;
  readonly place: string;
  readonly attributes: Record<string, AttributeValue>;
  readonly marks: PhaseMark[];
  failure: string | undefined;
  endMs: number | undefined;
}

/** Tracing that keeps what it is told; with `sampled` false, spans that are in no file. */
export function recordedTracing(nowMs: () => number, sampled = true) {
  const spans: RecordedSpan[] = [];
  const tracing: ProcessTracing = {
    nowMs,
    startSpan: (start) => {
      const number = (spans.length + 1).toString(16).padStart(16, '0');
      const trace = start.parent?.traceparent.slice(3, 35) ?? number.padStart(32, '0');
      const place = `00-${trace}-${number}-${sampled ? '01' : '00'}`;
      const span: RecordedSpan = {
        start,
        place,
        attributes: { ...start.attributes },
        marks: [],
        failure: undefined,
        endMs: undefined,
      };
      spans.push(span);
      return {
        place: { traceparent: place },
        sampled,
        mark: (phase, fromMs, untilMs) => {
          const fromUs = Math.round((fromMs - start.startMs) * 1_000);
          span.marks.push({ phase, fromUs, lengthUs: Math.round((untilMs - fromMs) * 1_000) });
        },
        set: (name, value) => void (span.attributes[name] = value),
        link: () => {},
        fail: (code) => void (span.failure = code),
        end: (endMs) => void (span.endMs = endMs),
      };
    },
    dropped: 0,
    stop: async () => {},
  };
  return {
    tracing,
    spans,
    named: (name: string) => spans.filter((one) => one.start.name === name),
  };
}
