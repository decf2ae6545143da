import type { StudyCell } from '#loadtest/variability/study-cells.ts';
import type { Study } from '#loadtest/variability/study.ts';
import type { TableRow, Variability } from '#loadtest/variability/variability-summary.ts';
import { html, type Html } from '../html.ts';
import { boxPlots } from './box-plots.ts';
import { bounded, demandText, figure } from './figure-text.ts';
import { plainTable } from './plain-table.ts';

/** The study's table 3, what is in the wall time, and the box plots. */
export function errorSection(
  { table }: Variability,
  study: Study,
  cells: readonly StudyCell[],
): Html {
  return html`<h2>How long the demands took</h2>
    <p class="soft">
      Wall time of every burst over all nodes. Intervals are 95 %, by resampling whole executions
      (bursts of one execution are not independent): BCa, percentiles for median and p95.
    </p>
    ${plainTable({
      caption: 'Wall time in ms; CV and bias in %',
      heads: ['class', 'demand', 'n', 'mean', 'median', 'p95', 'SD', 'CV', 'bias'],
      words: 2,
      rows: table.map((row) => [
        row.qos,
        demandText(row.demandMs),
        row.n,
        bounded(row.meanMs),
        bounded(row.medianMs),
        bounded(row.p95Ms),
        bounded(row.sdMs),
        bounded(row.cvPct),
        bounded(row.biasPct),
      ]),
    })}
    ${boxPlots(study, cells)}
    <p class="soft">
      Boxes hold the middle half (quartiles of type 7), whiskers reach to the outermost value within
      1.5 interquartile ranges, circles lie beyond; diamond: mean, dashed: p95, below: n.
    </p>
    <h2>Burst against burst, execution against execution</h2>
    <p class="soft">
      Within: bursts of one execution around its mean. Between: means of executions. MAD: median
      distance from the median, which a few preempted bursts cannot move. CPU: the part of the wall
      time that was not waiting.
    </p>
    ${spreadTable(table)}`;
}

const spreadTable = (table: readonly TableRow[]): Html =>
  plainTable({
    caption: 'In %, but p95 over median',
    heads: [
      'class',
      'demand',
      'CV within',
      'CV between',
      'MAD / median',
      'p95 / median',
      'CPU bias',
      'CPU CV',
      'waiting for a CPU',
    ],
    words: 2,
    rows: table.map((row) => [
      row.qos,
      demandText(row.demandMs),
      figure(row.withinCvPct),
      figure(row.betweenCvPct),
      figure(row.madPct),
      figure(row.p95OverMedian),
      figure(row.cpuBiasPct),
      figure(row.cpuCvPct),
      figure(row.readyShare === null ? null : row.readyShare * 100),
    ]),
  });
