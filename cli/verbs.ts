import type { Verb } from './verb.ts';

/** Loaded when asked for: `help` and `status` must not wait for what `demo` needs. */
export const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  setup: async () => (await import('./setup-verb.ts')).setupVerb,
  demo: async () => (await import('./demo-verb.ts')).demoVerb,
  run: async () => (await import('./run-verb.ts')).runVerb,
  drive: async () => (await import('./drive-verb.ts')).driveVerb,
  report: async () => (await import('./report-verb.ts')).reportVerb,
  trace: async () => (await import('./trace-verb.ts')).traceVerb,
  bench: async () => (await import('./bench-verb.ts')).benchVerb,
  campaign: async () => (await import('./campaign-verb.ts')).campaignVerb,
  calibrate: async () => (await import('./calibrate-verb.ts')).calibrateVerb,
  variability: async () => (await import('./variability-verb.ts')).variabilityVerb,
  up: async () => (await import('./up-verb.ts')).upVerb,
  down: async () => (await import('./down-verb.ts')).downVerb,
  watch: async () => (await import('./watch-verb.ts')).watchVerb,
  'replay-decisions': async () => (await import('./replay-decisions-verb.ts')).replayDecisionsVerb,
  status: async () => (await import('./status-verb.ts')).statusVerb,
  doctor: async () => (await import('./doctor-verb.ts')).doctorVerb,
};
