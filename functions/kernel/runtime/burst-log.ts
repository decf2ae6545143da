import { LogHistogram, type HistogramDocument } from '../core/log-histogram.ts';
import type { BurstReport } from '../demand/demand.ts';

/** A burst as it is handed on: its report, its number within the process, and when it ended. */
export interface BurstRow extends BurstReport {
  readonly n: number;
  /** Wall clock of the service. */
  readonly endedAtMs: number;
}

/** The measures that a histogram is kept of; all in ms, `rate` over the reference rate. */
const MEASURES = [
  'cpuMs',
  'cpuErrorMs',
  'wallMs',
  'readyMs',
  'restMs',
  'queuedMs',
  'rate',
] as const;
export type BurstMeasure = (typeof MEASURES)[number];

/** All bursts of one kind at one place since the process began. */
export interface BurstHistograms {
  readonly kind: BurstReport['kind'];
  readonly place: BurstReport['place'];
  readonly bursts: number;
  readonly aborted: number;
  readonly involuntarySwitches: number;
  readonly histograms: Readonly<Record<BurstMeasure, HistogramDocument>>;
}

/** At 1,000 bursts/s, 20 s: whoever wants all rows reads more often. At 300 bytes each, 6 MB. */
export const MAX_BURST_ROWS = 20_000;

interface Kept {
  bursts: number;
  aborted: number;
  involuntarySwitches: number;
  readonly histograms: Readonly<Record<BurstMeasure, LogHistogram>>;
}

/**
 * What a stage's demands have consumed: histograms of all bursts, and the newest ones as rows. The oldest
 * row gives way to the newest; a reader sees by the numbers that some are gone.
 */
export class BurstLog {
  readonly #maxRows: number;
  readonly #rows: BurstRow[] = [];
  readonly #kept = new Map<string, Kept>();
  #newest = 0;

  constructor(maxRows = MAX_BURST_ROWS) {
    this.#maxRows = maxRows;
  }

  /** Number of the newest burst; the first one's is 1. */
  get newest(): number {
    return this.#newest;
  }

  note(reports: readonly BurstReport[], endedAtMs: number): void {
    for (const report of reports) {
      this.#newest += 1;
      this.#rows[this.#newest % this.#maxRows] = { n: this.#newest, endedAtMs, ...report };
      this.#count(report);
    }
  }

  #count(report: BurstReport): void {
    const key = `${report.kind}@${report.place}`;
    const kept = this.#kept.get(key) ?? {
      bursts: 0,
      aborted: 0,
      involuntarySwitches: 0,
      histograms: {
        cpuMs: new LogHistogram(),
        cpuErrorMs: new LogHistogram(),
        wallMs: new LogHistogram(),
        readyMs: new LogHistogram(),
        restMs: new LogHistogram(),
        queuedMs: new LogHistogram(),
        rate: new LogHistogram(),
      },
    };
    this.#kept.set(key, kept);
    kept.bursts += 1;
    if (report.aborted) kept.aborted += 1;
    kept.involuntarySwitches += report.involuntarySwitches;
    for (const measure of MEASURES) {
      const value = measureOf(report, measure);
      if (value !== null) kept.histograms[measure].add(value);
    }
  }

  /** The kept rows with a higher number, ascending. */
  after(n: number): readonly BurstRow[] {
    const first = Math.max(n, this.#newest - this.#maxRows) + 1;
    const rows: BurstRow[] = [];
    for (let number = Math.max(1, first); number <= this.#newest; number++) {
      const row = this.#rows[number % this.#maxRows];
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  histograms(): readonly BurstHistograms[] {
    return [...this.#kept].map(([key, kept]) => {
      const [kind, place] = key.split('@') as [BurstReport['kind'], BurstReport['place']];
      const { bursts, aborted, involuntarySwitches } = kept;
      const documents = MEASURES.map(
        (measure) => [measure, kept.histograms[measure].toDocument()] as const,
      );
      const histograms = Object.fromEntries(documents) as BurstHistograms['histograms'];
      return { kind, place, bursts, aborted, involuntarySwitches, histograms };
    });
  }
}

/** Null: the burst does not have it. An aborted burst was not meant to reach its nominal time. */
function measureOf(report: BurstReport, measure: BurstMeasure): number | null {
  if (measure !== 'cpuErrorMs') return report[measure];
  const { kind, aborted, cpuMs, nominal } = report;
  return kind === 'cpuTime' && !aborted ? cpuMs - nominal : null;
}
