import { readFileSync } from 'node:fs';
import type { Stat } from '#infra/autoscaling/policy.ts';

interface RecordedConfig {
  readonly k: 'config';
  /** Where in a wall-clock second t = 0 lies. */
  readonly secondOffset: number;
  readonly containerConcurrency: number;
  readonly maxScale: number;
  readonly freshWindow: boolean;
}

export interface RecordedDecision {
  readonly k: 'decision';
  readonly t: number;
  readonly stable: number;
  readonly panic: number;
  readonly target: number;
  readonly desiredStable: number;
  readonly desiredPanic: number;
  readonly ready: number;
  readonly maxUp: number;
  readonly maxDown: number;
  readonly panicking: boolean;
  readonly events: readonly string[];
  readonly totalPerPod: number;
  readonly targetBurst: number;
  readonly excessBurst: number;
}

export interface RecordedScale {
  readonly k: 'scale';
  readonly t: number;
  readonly from: number;
  readonly to: number;
}

interface RecordedStat {
  readonly k: 'stat';
  readonly t: number;
  readonly avgConcurrency: number;
  readonly avgProxied: number;
  readonly requests: number;
  readonly proxied: number;
}

interface RecordedReady {
  readonly k: 'applied';
  readonly t: number;
  readonly got: number;
}

type Row =
  | RecordedDecision
  | RecordedScale
  | RecordedStat
  | RecordedReady
  | { readonly k: 'path'; readonly t: number; readonly mode: 'Proxy' | 'Serve' }
  | { readonly k: 'bounds'; readonly t: number; readonly desired: number }
  | { readonly k: 'series'; readonly t: number; readonly ready: number };

export interface RecordedRun {
  readonly config: RecordedConfig;
  /** From the moments of the record to the time-line of the tests, on which whole seconds are buckets. */
  readonly atMs: (t: number) => number;
  readonly decisions: readonly RecordedDecision[];
  readonly scales: readonly RecordedScale[];
  /** New wishes as the reconciler got them, right after an evaluation: before the bounds. */
  readonly wishes: readonly { readonly t: number; readonly desired: number }[];
  readonly modes: readonly string[];
  /** Ready replicas from a moment on, ascending. */
  readonly ready: readonly { readonly t: number; readonly count: number }[];
  /** Everything the windows received, by time: the activator's reports, and a 0 of each scrape. */
  readonly stats: readonly Stat[];
}

/** Far enough from 0 that a minute of zeros before the load has room. */
const ORIGIN_MS = 120_000;

/** Reads one of the files in `fixtures/`; their README says what stands in them. */
export function readRecordedRun(name: string): RecordedRun {
  const text = readFileSync(new URL(`../fixtures/${name}.ndjson`, import.meta.url), 'utf8');
  const [first, ...rest] = text.trim().split('\n');
  const config = JSON.parse(first ?? '') as RecordedConfig;
  const rows = rest.map((line) => JSON.parse(line) as Row);
  const atMs = (t: number): number => ORIGIN_MS + (config.secondOffset + t) * 1_000;
  const of = <K extends Row['k']>(kind: K): Extract<Row, { k: K }>[] =>
    rows.filter((row): row is Extract<Row, { k: K }> => row.k === kind);
  const ready = of('applied').map(({ t, got }) => ({ t, count: got }));
  return {
    config,
    atMs,
    decisions: of('decision'),
    scales: of('scale'),
    wishes: of('bounds'),
    modes: of('path').map(({ mode }) => mode),
    ready,
    stats: [...reports(of('stat'), atMs), ...scrapes(config, of('series'), atMs)].sort(
      (a, b) => a.atMs - b.atMs,
    ),
  };
}

const reports = (rows: readonly RecordedStat[], atMs: (t: number) => number): Stat[] =>
  rows.map(({ t, avgConcurrency, avgProxied, requests, proxied }) => ({
    atMs: atMs(t),
    from: 'activator',
    averageConcurrency: avgConcurrency,
    averageProxiedConcurrency: avgProxied,
    requestCount: requests,
    proxiedRequestCount: proxied,
  }));

const nothing = (atMs: number): Stat => ({
  atMs,
  from: 'replica',
  averageConcurrency: 0,
  averageProxiedConcurrency: 0,
  requestCount: 0,
  proxiedRequestCount: 0,
});

/** A pod in the activator's path reports all as proxied: a scrape is a 0, but it is a sample. */
function scrapes(
  { freshWindow }: RecordedConfig,
  series: readonly { readonly t: number; readonly ready: number }[],
  atMs: (t: number) => number,
): Stat[] {
  const stats: Stat[] = [];
  // Zeros of a minute before, none in the last six seconds.
  if (!freshWindow) for (let t = -59; t <= -7; t++) stats.push(nothing(atMs(t)));
  const ready = series.filter((row) => row.ready > 0).map(({ t }) => t);
  const last = ready.at(-1) ?? 0;
  for (let t = Math.ceil(ready[0] ?? 0); t <= last; t++) stats.push(nothing(atMs(t)));
  return stats;
}
