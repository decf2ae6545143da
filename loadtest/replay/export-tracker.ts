import type { DatasetExported } from '#eventing/contracts/catalog.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';

export interface SessionProgress {
  readonly vehicle: string;
  readonly session: string;
  /** Batches cut, acknowledged, exported so far. */
  readonly sent: number;
  readonly acknowledged: number;
  readonly exported: number;
  readonly compacted: boolean;
}

/**
 * Matches the announcements of exported windows to the batches that vehicles sent. Announcements may
 * come in any order, repeated, and before the acknowledgement of the batch they hold.
 */
export class ExportTracker {
  readonly #windowUs: number;
  /** Session → seq → newest record. */
  readonly #records = new Map<string, Map<number, BatchRecord>>();
  /** Session → window → arrivals, ms since the run's start, ascending. */
  readonly #arrivals = new Map<string, Map<number, number[]>>();
  /** Session → last announcement of its compacted files. */
  readonly #compacted = new Map<string, number>();
  #announcements = 0;

  constructor(windowMs: number) {
    this.#windowUs = windowMs * 1000;
  }

  /** Announcements taken in so far, repeats too. */
  get announcements(): number {
    return this.#announcements;
  }

  noteRecord(record: BatchRecord): void {
    const session = `${record.vehicle}/${record.session}`;
    const records = this.#records.get(session) ?? new Map<number, BatchRecord>();
    records.set(record.seq, record);
    this.#records.set(session, records);
  }

  noteExport(announced: DatasetExported, arrivedMs: number): void {
    this.#announcements += 1;
    const session = `${announced.vehicle}/${announced.session}`;
    if (announced.window === null) {
      this.#compacted.set(session, arrivedMs);
      return;
    }
    const windows = this.#arrivals.get(session) ?? new Map<number, number[]>();
    const arrivals = windows.get(announced.window) ?? [];
    arrivals.push(arrivedMs);
    windows.set(announced.window, arrivals);
    this.#arrivals.set(session, windows);
  }

  /**
   * When the batch had come out: the arrival of the last of the windows it has time in; null before.
   *
   * An announcement from before the attempt that was stored cannot hold the batch (the window had
   * closed without it), so it does not count; a revision that holds it follows.
   */
  exportedMs(record: BatchRecord): number | null {
    const sentMs = record.duplicate ? record.firstSentMs : record.sentMs;
    if (record.outcome !== 'stored' || sentMs === null) return null;
    const windows = this.#arrivals.get(`${record.vehicle}/${record.session}`);
    const first = Math.floor(record.fromUs / this.#windowUs);
    // As the pipeline has it: [1,000,000, 2,000,000) with 1 s windows is window 1 only.
    const last = Math.floor((Math.max(record.untilUs, record.fromUs + 1) - 1) / this.#windowUs);
    let exportedMs = 0;
    for (let window = first; window <= last; window++) {
      const arrivedMs = windows?.get(window)?.find((ms) => ms >= sentMs);
      if (arrivedMs === undefined) return null;
      exportedMs = Math.max(exportedMs, arrivedMs);
    }
    return exportedMs;
  }

  /** Every batch's record with its time of export, by vehicle, session and number. */
  records(): readonly BatchRecord[] {
    return [...this.#records.values()].flatMap((session) =>
      [...session.values()]
        .sort((a, b) => a.seq - b.seq)
        .map((record) => ({ ...record, exportedMs: this.exportedMs(record) })),
    );
  }

  progress(): readonly SessionProgress[] {
    return [...this.#records].map(([key, session]) => {
      const records = [...session.values()];
      const [first] = records;
      const stored = records.filter(({ outcome }) => outcome === 'stored');
      const lastSentMs = Math.max(0, ...stored.map(({ sentMs }) => sentMs ?? 0));
      return {
        vehicle: first?.vehicle ?? '',
        session: first?.session ?? '',
        sent: records.length,
        acknowledged: stored.length,
        exported: stored.filter((record) => this.exportedMs(record) !== null).length,
        compacted: (this.#compacted.get(key) ?? -1) >= lastSentMs,
      };
    });
  }
}

/** What is still to come, in words; empty when everything acknowledged came out. */
export function stillMissing(progress: readonly SessionProgress[]): readonly string[] {
  return progress.flatMap(({ vehicle, session, acknowledged, exported, compacted }) => {
    const missing: string[] = [];
    if (exported < acknowledged) {
      missing.push(`${vehicle}/${session}: ${acknowledged - exported} batches not exported`);
    }
    if (acknowledged > 0 && !compacted) {
      missing.push(`${vehicle}/${session}: its complete data set was not announced`);
    }
    return missing;
  });
}
