import type { ColdStartRow, SampleRow } from '#infra/local/cluster-records.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import { timelinePanel, type Panel, type Span, type StepSeries } from './timeline-panel.ts';

/** What is drawn of one stage; times in ms since the cluster's start. */
export interface StageRows {
  readonly samples: readonly SampleRow[];
  readonly coldStarts: readonly ColdStartRow[];
}

/** Everything about one stage over time, panel below panel on one time axis, from 0 at `fromMs`. */
export function stageTimeline(
  stage: string,
  rows: StageRows,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): Html {
  const { samples } = rows;
  if (
    samples.every((row) => row.offeredPerS === 0 && row.desired + row.ready + row.starting === 0)
  ) {
    return html`<h3>${stage}</h3>
      <p class="soft">No request came, and no replica was started.</p>`;
  }
  const seconds = (ms: number): number => (ms - fromMs) / 1_000;
  const span: Span = { fromS: 0, untilS: Math.max(1, seconds(untilMs)) };
  const all = panels(rows, seconds);
  return html`<h3>${stage}</h3>
    <div class="panels">
      ${all.map((panel, index) => timelinePanel(panel, span, index === all.length - 1))}
    </div>`;
}

function panels({ samples, coldStarts }: StageRows, seconds: (ms: number) => number): Panel[] {
  /** A sample tells of the second before it. */
  const back = (
    name: string,
    colour: StepSeries['colour'],
    value: (row: SampleRow) => number | null,
    area = false,
  ): StepSeries => ({
    name,
    colour,
    area,
    points: samples.map((row) => [seconds(row.atMs) - 1, value(row)] as const),
  });
  /** A sample tells of its moment. */
  const now = (...series: Parameters<typeof back>): StepSeries => {
    const { points, ...rest } = back(...series);
    return { ...rest, points: points.map(([atS, value]) => [atS + 1, value] as const) };
  };
  const backlog = samples.some((row) => row.backlog !== null);
  return [
    {
      title: 'Offered rate',
      unit: 'requests/s',
      atLeast: 1,
      series: [back('arrived in that second', 1, (row) => row.offeredPerS)],
    },
    {
      title: 'Concurrency',
      unit: 'requests',
      atLeast: 1,
      series: [
        back('inside, average', 1, (row) => row.concurrency),
        now('waiting for a replica', 2, (row) => row.queued),
      ],
    },
    {
      title: 'Replicas; shaded: panic; ticks: a replica became ready',
      unit: '',
      atLeast: 1,
      bands: panicSpans(samples).map(([from, until]) => [seconds(from), seconds(until)] as const),
      marks: coldStarts.map(({ listeningMs }) => seconds(listeningMs)),
      series: [
        now('ready', 3, (row) => row.ready, true),
        now('starting', 2, (row) => row.starting),
        now('wanted', 1, (row) => row.desired),
      ],
    },
    ...(backlog
      ? [
          {
            title: 'Events that its Triggers have not finished (backlog)',
            unit: 'events',
            atLeast: 1,
            series: [now('in the stream or under way', 4, (row) => row.backlog)],
          },
        ]
      : []),
    {
      title: 'CPU',
      unit: 'cores',
      atLeast: 0.1,
      series: [
        { name: 'all replicas', colour: 3, area: true, points: coresUsed(samples, seconds) },
      ],
    },
  ];
}

/** Spans in which the policy was panicking, from sample to sample. */
export function panicSpans(samples: readonly SampleRow[]): (readonly [number, number])[] {
  const spans: [number, number][] = [];
  let open: [number, number] | undefined;
  for (const { atMs, panicking } of samples) {
    if (!panicking) {
      open = undefined;
      continue;
    }
    if (open === undefined) {
      open = [atMs - 1_000, atMs];
      spans.push(open);
    } else open[1] = atMs;
  }
  return spans;
}

/**
 * Cores in use between two samples: the CPU time that each replica gained. A replica's first sample
 * counts from its start; one that has gone adds nothing more.
 */
export function coresUsed(
  samples: readonly SampleRow[],
  seconds: (ms: number) => number,
): (readonly [number, number])[] {
  const before = new Map<string, number>();
  let lastMs: number | undefined;
  // After a pause of the process two samples may lie close together: the figures are a second's.
  const apart = samples.filter(({ atMs }, index) => atMs - (samples[index - 1]?.atMs ?? 0) > 200);
  return apart.map(({ atMs, replicas }) => {
    let gainedMs = 0;
    for (const { name, cpuMs } of replicas) {
      gainedMs += Math.max(0, cpuMs - (before.get(name) ?? 0));
      before.set(name, cpuMs);
    }
    const overMs = atMs - (lastMs ?? atMs - 1_000);
    lastMs = atMs;
    return [seconds(atMs - overMs), overMs > 0 ? gainedMs / overMs : 0] as const;
  });
}
