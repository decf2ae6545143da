import { RECORD_FILES } from '#infra/local/cluster-recorder.ts';
import { quantilesOf, type Quantiles } from './quantiles.ts';
import type { ColdStartRow, ReplicaRow, SampleRow } from '#infra/local/cluster-records.ts';

/** What the local cluster wrote down about replicas, by the file it stands in. */
export interface ScalingRecords {
  readonly replicas: readonly ReplicaRow[];
  readonly coldStarts: readonly ColdStartRow[];
  readonly samples: readonly SampleRow[];
}

export const SCALING_FILES = {
  replicas: RECORD_FILES.replicas,
  coldStarts: RECORD_FILES.coldStarts,
  samples: RECORD_FILES.samples,
} as const;

/** What of the records counts: from the beginning of the load to the end of watching. */
export interface MeasuredSpan {
  /** ms since the cluster's start. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** How a stage was scaled in the measured span. */
export interface StageScaling {
  /** Most replicas that were ready at once. */
  readonly replicasMax: number;
  /** Replicas that became ready. */
  readonly coldStarts: number;
  /** Of these, started because there was none. */
  readonly coldStartsFromZero: number;
  /** From the decision to the moment a replica takes requests. */
  readonly coldStartMs: Quantiles;
  /** Time that replicas were there, from their launch to their end, in back-off and draining too. */
  readonly replicaSeconds: number;
  /** CPU time of the replicas' processes. */
  readonly cpuSeconds: number;
  /** There was no replica at the beginning. */
  readonly zeroBefore: boolean;
  /** There was no replica any more at the end. */
  readonly backToZero: boolean;
}

/**
 * By stage, for the stages named and those that have a row. A pure function of the rows; rows after the
 * span (the cluster is stopped then) change nothing.
 */
export function scalingSummaries(
  records: ScalingRecords,
  span: MeasuredSpan,
  stages: readonly string[] = [],
): Readonly<Record<string, StageScaling>> {
  const named = [...records.replicas, ...records.samples, ...records.coldStarts];
  const names = new Set([...stages, ...named.map(({ service }) => service)]);
  return Object.fromEntries(
    [...names].sort().map((stage) => {
      const own = <Row extends { readonly service: string }>(rows: readonly Row[]): Row[] =>
        rows.filter(({ service }) => service === stage);
      const lives = livesOf(own(records.replicas));
      return [
        stage,
        {
          ...startsOf(own(records.coldStarts), span),
          replicasMax: mostReady(lives, span),
          replicaSeconds: rounded(presentMs(lives, span) / 1_000),
          cpuSeconds: rounded(cpuMs(own(records.samples), span) / 1_000),
          zeroBefore: presentAt(lives, span.fromMs) === 0,
          backToZero: presentAt(lives, span.untilMs) === 0,
        },
      ];
    }),
  );
}

/** To the ms: what the records themselves resolve. */
const rounded = (seconds: number): number => Math.round(seconds * 1_000) / 1_000;

/** A replica's phases in their order, each until the next one; the last one never ends. */
interface Stay {
  readonly phase: ReplicaRow['phase'];
  readonly fromMs: number;
  readonly untilMs: number;
}

function livesOf(rows: readonly ReplicaRow[]): readonly (readonly Stay[])[] {
  const byReplica = Map.groupBy(rows, ({ replica }) => replica);
  return [...byReplica.values()].map((own) =>
    own
      .toSorted((a, b) => a.atMs - b.atMs)
      .map(({ phase, atMs }, index, sorted) => ({
        phase,
        fromMs: atMs,
        untilMs: sorted[index + 1]?.atMs ?? Infinity,
      })),
  );
}

/** A replica that waits for a place on a node costs nothing yet. */
const isPresent = ({ phase }: Stay): boolean => phase !== 'pending' && phase !== 'gone';

const presentAt = (lives: readonly (readonly Stay[])[], atMs: number): number =>
  lives.filter((life) =>
    life.some((stay) => isPresent(stay) && stay.fromMs <= atMs && atMs < stay.untilMs),
  ).length;

function presentMs(lives: readonly (readonly Stay[])[], span: MeasuredSpan): number {
  let sumMs = 0;
  for (const stay of lives.flat()) {
    if (!isPresent(stay)) continue;
    const untilMs = Math.min(stay.untilMs, span.untilMs);
    sumMs += Math.max(0, untilMs - Math.max(stay.fromMs, span.fromMs));
  }
  return sumMs;
}

/** A sweep over all beginnings and ends of readiness. One that ends when another begins makes no two. */
function mostReady(lives: readonly (readonly Stay[])[], span: MeasuredSpan): number {
  const changes = lives
    .flat()
    .filter(({ phase }) => phase === 'ready')
    .map(({ fromMs, untilMs }) => ({
      fromMs: Math.max(fromMs, span.fromMs),
      untilMs: Math.min(untilMs, span.untilMs),
    }))
    .filter(({ fromMs, untilMs }) => fromMs < untilMs)
    .flatMap(({ fromMs, untilMs }) => [
      { atMs: fromMs, by: 1 },
      { atMs: untilMs, by: -1 },
    ])
    .toSorted((a, b) => a.atMs - b.atMs || a.by - b.by);
  let ready = 0;
  let most = 0;
  for (const { by } of changes) {
    ready += by;
    most = Math.max(most, ready);
  }
  return most;
}

function startsOf(
  rows: readonly ColdStartRow[],
  { fromMs, untilMs }: MeasuredSpan,
): Pick<StageScaling, 'coldStarts' | 'coldStartsFromZero' | 'coldStartMs'> {
  const starts = rows.filter(({ listeningMs }) => listeningMs >= fromMs && listeningMs <= untilMs);
  return {
    coldStarts: starts.length,
    coldStartsFromZero: starts.filter(({ fromZero }) => fromZero).length,
    coldStartMs: quantilesOf(starts.map(({ listeningMs, decidedMs }) => listeningMs - decidedMs)),
  };
}

/**
 * Each replica's last known CPU time less that at the beginning. What a replica consumed after its last
 * sample, at most two seconds (a row has figures that are up to one second old), is missing.
 */
function cpuMs(rows: readonly SampleRow[], { fromMs, untilMs }: MeasuredSpan): number {
  const before = new Map<string, number>();
  const after = new Map<string, number>();
  for (const { atMs, replicas } of rows) {
    if (atMs > untilMs) continue;
    const known = atMs <= fromMs ? before : after;
    for (const { name, cpuMs: usedMs } of replicas) {
      known.set(name, Math.max(usedMs, known.get(name) ?? 0));
    }
  }
  let sumMs = 0;
  for (const [name, usedMs] of after) sumMs += Math.max(0, usedMs - (before.get(name) ?? 0));
  return sumMs;
}
