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

/** A session as its vehicle tells it. */
interface SessionRecords {
  readonly records: Map<number, BatchRecord>;
  readonly stored: Set<number>;
  /** Last attempt of a stored batch, ms. */
  lastSentMs: number;
  /** Batches that were not out when they were last looked at: only these are looked at again. */
  readonly waiting: Set<number>;
  exported: number;
}

/**
 * Matches the announcements of exported windows to the batches that vehicles sent. Announcements may
 * come in any order, repeated, and before the acknowledgement of the batch they hold.
 */
export class ExportTracker {
  readonly #windowUs: number;
  readonly #sessions = new Map<string, SessionRecords>();
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
    const key = `${record.vehicle}/${record.session}`;
    const session = this.#sessions.get(key) ?? {
      records: new Map(),
      stored: new Set(),
      lastSentMs: 0,
      waiting: new Set(),
      exported: 0,
    };
    this.#sessions.set(key, session);
    if (!session.records.has(record.seq)) session.waiting.add(record.seq);
    session.records.set(record.seq, record);
    if (record.outcome !== 'stored') return;
    session.stored.add(record.seq);
    session.lastSentMs = Math.max(session.lastSentMs, record.sentMs ?? 0);
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
    const [first, last] = this.#windowSpan(record);
    let exportedMs = 0;
    for (let window = first; window <= last; window++) {
      const arrivedMs = windows?.get(window)?.find((ms) => ms >= sentMs);
      if (arrivedMs === undefined) return null;
      exportedMs = Math.max(exportedMs, arrivedMs);
    }
    return exportedMs;
  }

  /** As the pipeline has it: [1,000,000, 2,000,000) with 1 s windows is window 1 only. */
  #windowSpan({ seq, fromUs, untilUs, emulated }: BatchRecord): readonly [number, number] {
    if (emulated === true) return [seq, seq];
    const last = Math.floor((Math.max(untilUs, fromUs + 1) - 1) / this.#windowUs);
    return [Math.floor(fromUs / this.#windowUs), last];
  }

  /** Every batch's record with its time of export, by vehicle, session and number. */
  records(): readonly BatchRecord[] {
    return [...this.#sessions.values()].flatMap((session) =>
      [...session.records.values()]
        .sort((a, b) => a.seq - b.seq)
        .map((record) => ({ ...record, exportedMs: this.exportedMs(record) })),
    );
  }

  progress(): readonly SessionProgress[] {
    return [...this.#sessions].map(([key, session]) => {
      this.#lookAgain(session);
      const [first] = session.records.values();
      return {
        vehicle: first?.vehicle ?? '',
        session: first?.session ?? '',
        sent: session.records.size,
        acknowledged: session.stored.size,
        exported: session.exported,
        compacted: (this.#compacted.get(key) ?? -1) >= session.lastSentMs,
      };
    });
  }

  /** What is out stays out, so that looking costs what is under way and not the whole run. */
  #lookAgain(session: SessionRecords): void {
    for (const seq of session.waiting) {
      const record = session.records.get(seq);
      if (record === undefined || this.exportedMs(record) === null) continue;
      session.waiting.delete(seq);
      session.exported += 1;
    }
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
