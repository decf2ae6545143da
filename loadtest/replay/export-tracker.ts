import type { DatasetExported, SeqRange } from '#eventing/contracts/catalog.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';

export interface SessionProgress {
  readonly vehicle: string;
  readonly session: string;
  /** Batches cut, acknowledged, exported so far. */
  readonly sent: number;
  readonly acknowledged: number;
  readonly exported: number;
  /** Acknowledged batches of which not all windows were announced, though the session may have been. */
  readonly windowsOpen: number;
  /** One announcement of the compacted session holds all acknowledged batches. */
  readonly compacted: boolean;
}

/** An announcement as it arrived, ms since the run's start. */
interface Arrival {
  readonly ms: number;
  readonly batches: readonly SeqRange[];
}

/** Ascending by arrival. */
interface SessionArrivals {
  readonly windows: Map<number, Arrival[]>;
  readonly compacted: Arrival[];
}

/**
 * Whether the announced data hold the batch. Where they do not tell (too many ranges) time has to: what
 * was announced before the attempt that was stored cannot hold it.
 */
function holds({ ms, batches }: Arrival, record: BatchRecord): boolean {
  if (batches.length === 0) {
    const sentMs = record.duplicate ? record.firstSentMs : record.sentMs;
    return sentMs !== null && ms >= sentMs;
  }
  return batches.some(({ firstSeq, lastSeq }) => firstSeq <= record.seq && record.seq <= lastSeq);
}

/**
 * Matches the announcements of exported data to the batches that vehicles sent. Announcements may come
 * in any order, repeated, and before the acknowledgement of the batch they hold.
 */
export class ExportTracker {
  readonly #windowUs: number;
  /** Session → seq → newest record. */
  readonly #records = new Map<string, Map<number, BatchRecord>>();
  readonly #arrivals = new Map<string, SessionArrivals>();
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
    const known: SessionArrivals = this.#arrivals.get(session) ?? {
      windows: new Map(),
      compacted: [],
    };
    this.#arrivals.set(session, known);
    const arrival = { ms: arrivedMs, batches: announced.batches };
    if (announced.window === null) {
      known.compacted.push(arrival);
      return;
    }
    const arrivals = known.windows.get(announced.window) ?? [];
    arrivals.push(arrival);
    known.windows.set(announced.window, arrivals);
  }

  /**
   * When the batch had come out: all windows it has time in had been announced with it, or its
   * compacted session had, whichever was first; null before.
   */
  exportedMs(record: BatchRecord): number | null {
    if (record.outcome !== 'stored') return null;
    const windowsMs = this.#windowsMs(record);
    const sessionMs = this.#compacted(record).find((arrival) => holds(arrival, record))?.ms ?? null;
    if (windowsMs === null || sessionMs === null) return windowsMs ?? sessionMs;
    return Math.min(windowsMs, sessionMs);
  }

  #compacted({ vehicle, session }: BatchRecord): readonly Arrival[] {
    return this.#arrivals.get(`${vehicle}/${session}`)?.compacted ?? [];
  }

  /** The arrival of the last of the windows that the batch has time in. */
  #windowsMs(record: BatchRecord): number | null {
    const windows = this.#arrivals.get(`${record.vehicle}/${record.session}`)?.windows;
    const [first, last] = this.#windowSpan(record);
    let windowsMs = 0;
    for (let window = first; window <= last; window++) {
      const arrival = windows?.get(window)?.find((each) => holds(each, record));
      if (arrival === undefined) return null;
      windowsMs = Math.max(windowsMs, arrival.ms);
    }
    return windowsMs;
  }

  /** As the pipeline has it: [1,000,000, 2,000,000) with 1 s windows is window 1 only. */
  #windowSpan({ seq, fromUs, untilUs, emulated }: BatchRecord): readonly [number, number] {
    if (emulated === true) return [seq, seq];
    const last = Math.floor((Math.max(untilUs, fromUs + 1) - 1) / this.#windowUs);
    return [Math.floor(fromUs / this.#windowUs), last];
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
    return [...this.#records.values()].map((session) => {
      const records = [...session.values()];
      const [first] = records;
      const stored = records.filter(({ outcome }) => outcome === 'stored');
      const compacted = first === undefined ? [] : this.#compacted(first);
      return {
        vehicle: first?.vehicle ?? '',
        session: first?.session ?? '',
        sent: records.length,
        acknowledged: stored.length,
        exported: stored.filter((record) => this.exportedMs(record) !== null).length,
        windowsOpen: stored.filter((record) => this.#windowsMs(record) === null).length,
        compacted: compacted.some((each) => stored.every((record) => holds(each, record))),
      };
    });
  }
}

/** What is still to come, in words; empty when everything acknowledged came out. */
export function stillMissing(progress: readonly SessionProgress[]): readonly string[] {
  return progress.flatMap(({ vehicle, session, ...counts }) => {
    const { acknowledged, exported, windowsOpen, compacted } = counts;
    const missing: string[] = [];
    if (exported < acknowledged) {
      missing.push(`${vehicle}/${session}: ${acknowledged - exported} batches not exported`);
    }
    // Out with their session, but the account needs the fact of each window too.
    const windowsOnly = windowsOpen - (acknowledged - exported);
    if (windowsOnly > 0) {
      missing.push(
        `${vehicle}/${session}: ${windowsOnly} batches without their windows' announcement`,
      );
    }
    if (acknowledged > 0 && !compacted) {
      missing.push(`${vehicle}/${session}: its complete data set was not announced`);
    }
    return missing;
  });
}
