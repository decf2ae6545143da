import { must } from '#kernel/core/assert.ts';
import type {
  ExportedFile,
  FrameAccount,
  IdCount,
  ReceiptFact,
  ResultFact,
  SessionFact,
  SignalQuality,
  WindowFact,
} from '#kernel/facts/facts.ts';
import type { DatasetSource } from './dataset-source.ts';

export const SIDECAR_SCHEMA = 'tachograph.session/1';

/** A result without its blocks. */
export type ResultAccount = Omit<ResultFact, 'recorded' | 'raster'>;

export interface SidecarInput {
  readonly source: DatasetSource;
  readonly session: SessionFact;
  readonly startUs: number;
  /** Of the session's windows, ascending. */
  readonly windows: readonly WindowFact[];
  readonly results: readonly ResultAccount[];
  /** Of the session, ascending by sequence number. */
  readonly receipts: readonly ReceiptFact[];
  readonly files: readonly ExportedFile[];
  /** `signalKey` of the signals that had one value throughout the session. */
  readonly constantSignals: ReadonlySet<string>;
}

export const signalKey = (bus: string, message: string, signal: string): string =>
  JSON.stringify([bus, message, signal]);

const sum = <T>(rows: readonly T[], value: (row: T) => number): number =>
  rows.reduce((total, row) => total + value(row), 0);

/** ISO 8601 with µs, for people; a time no calendar holds (a damaged clock) is null. */
export function isoTime(us: number): string | null {
  const date = new Date(Math.floor(us / 1_000));
  if (Number.isNaN(date.getTime())) return null;
  const micros = String(((us % 1_000) + 1_000) % 1_000).padStart(3, '0');
  return date.toISOString().replace('Z', `${micros}Z`);
}

function mergeCounts(lists: readonly (readonly IdCount[])[]): IdCount[] {
  const merged = new Map<string, IdCount>();
  for (const count of lists.flat()) {
    const key = JSON.stringify([count.bus, count.id, count.extended]);
    const frames = (merged.get(key)?.frames ?? 0) + count.frames;
    merged.set(key, { ...count, frames });
  }
  return [...merged.values()].sort(
    (a, b) => compareText(a.bus, b.bus) || a.id - b.id || Number(a.extended) - Number(b.extended),
  );
}

const compareText = (a: string, b: string): number => Number(a > b) - Number(a < b);

function droppedByReason(receipts: readonly ReceiptFact[]): Record<string, number> {
  const dropped = new Map<string, number>();
  for (const receipt of receipts) {
    for (const [reason, frames] of Object.entries(receipt.dropped)) {
      dropped.set(reason, (dropped.get(reason) ?? 0) + frames);
    }
  }
  return Object.fromEntries([...dropped].sort(([a], [b]) => compareText(a, b)));
}

/** recorded = decoded + unknownId + noData, over all windows; the rest are parts and remarks. */
function frameAccount({ results, receipts }: SidecarInput) {
  const total = (field: Exclude<keyof FrameAccount, 'unknownIds' | 'unknownSelectors'>): number =>
    sum(results, ({ frames }) => frames[field]);
  return {
    seenByVehicle: sum(receipts, (receipt) => receipt.seen),
    matchedByVehicle: sum(receipts, (receipt) => receipt.matched),
    recordedByVehicle: sum(receipts, (receipt) => receipt.recordedByVehicle),
    received: sum(receipts, (receipt) => receipt.frames),
    recorded: total('recorded'),
    decoded: total('decoded'),
    unknownId: total('unknownId'),
    noData: total('noData'),
    truncated: total('truncated'),
    longer: total('longer'),
    unknownSelector: total('unknownSelector'),
    unsorted: sum(results, (result) => result.unsortedFrames),
    duplicates: sum(results, (result) => result.duplicateFrames),
    droppedByVehicle: droppedByReason(receipts),
    unknownIds: mergeCounts(results.map(({ frames }) => frames.unknownIds)),
    unknownSelectors: mergeCounts(results.map(({ frames }) => frames.unknownSelectors)),
  };
}

function quality({ results, constantSignals }: SidecarInput): SignalQuality[] {
  const merged = new Map<string, SignalQuality>();
  for (const row of results.flatMap((result) => result.quality)) {
    const key = signalKey(row.bus, row.message, row.signal);
    const known = merged.get(key);
    merged.set(key, {
      ...row,
      samples: row.samples + (known?.samples ?? 0),
      outOfRange: row.outOfRange + (known?.outOfRange ?? 0),
      notAvailable: row.notAvailable + (known?.notAvailable ?? 0),
      constant: constantSignals.has(key),
    });
  }
  return [...merged].sort(([a], [b]) => compareText(a, b)).map(([, row]) => row);
}

/** What each batch's clock pair says, and how far it is ahead of the first one, which is applied. */
function clocks({ receipts, startUs }: SidecarInput) {
  return receipts.map(({ seq, clock }) => ({
    seq,
    monotonicUs: clock.monotonicUs,
    wallUs: clock.wallUs,
    source: clock.source,
    aheadUs: clock.wallUs - clock.monotonicUs - startUs,
  }));
}

/**
 * The account of a compacted session, `session.json`: what was received when, what was lost where, how
 * good the signals are, which files there are. Everything that may differ between two runs over the
 * same data stands here and not in the data files.
 */
export function sessionSidecar(input: SidecarInput) {
  const { source, session, windows, results, receipts, startUs, files } = input;
  const { campaign } = source;
  return {
    schema: SIDECAR_SCHEMA,
    vehicle: session.vehicle,
    session: session.session,
    revision: session.revision,
    closed: session.reason,
    campaign: {
      id: campaign.campaign,
      version: campaign.version,
      name: campaign.definition.name,
      definitionSha256: campaign.definitionSha256,
    },
    decoders: source.dbc,
    software: {
      export: source.software,
      processing: [...new Set(results.map(({ software }) => software))].sort(),
    },
    time: {
      startUs,
      start: isoTime(startUs),
      fromUs: windows[0]?.fromUs ?? null,
      untilUs: windows.at(-1)?.untilUs ?? null,
      clocks: clocks(input),
    },
    frames: frameAccount(input),
    batches: {
      count: session.batches,
      firstSeq: session.firstSeq,
      lastSeq: session.lastSeq,
      gaps: session.gaps,
      received: receipts.map((receipt) => ({
        seq: receipt.seq,
        fromUs: receipt.fromUs,
        untilUs: receipt.untilUs,
        frames: receipt.frames,
        bodyBytes: receipt.bodyBytes,
        sha256: receipt.sha256,
        flags: receipt.flags,
        receivedAtMs: receipt.receivedAtMs,
      })),
    },
    windows: windows.map((window, at) => ({
      window: window.window,
      revision: window.revision,
      fromUs: window.fromUs,
      untilUs: window.untilUs,
      closed: window.reason,
      gaps: window.gaps,
      batches: window.seqs,
      samples: must(results[at], 'result of the window').samples,
    })),
    quality: quality(input),
    files: [...files].sort((a, b) => compareText(a.path, b.path)),
  };
}
