import type { RequestSpan } from '../stage-telemetry.ts';

export interface FakeSpan extends RequestSpan {
  /** What it was told, one line each, in order. */
  readonly told: string[];
}

/** Notes what it is told, and measures nothing. */
export function fakeSpan(traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`): FakeSpan {
  const told: string[] = [];
  return {
    told,
    place: { traceparent },
    run: (work) => work(),
    enter: (phase) => {
      told.push(`enter ${phase}`);
      return () => void told.push(`leave ${phase}`);
    },
    mark: (phase, fromMs, untilMs) => void told.push(`mark ${phase} ${fromMs} to ${untilMs}`),
    link: (place, attributes) =>
      void told.push(`link ${place.traceparent} ${JSON.stringify(attributes)}`),
    set: (name, value) => void told.push(`set ${name} ${value}`),
    noteOutcome: (outcome) => void told.push(`outcome ${outcome.kind}`),
    noteFailure: (error) => void told.push(`failure ${String(error)}`),
    end: (status) => void told.push(`end ${status}`),
  };
}
