import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { LedgerFact, ReceiptCard, ResultCard } from '../ledger-fact.ts';

/** Hand-made facts of a run in which everything came out: one vehicle, one session, one window a batch. */
export interface ExampleRun {
  records: BatchRecord[];
  facts: LedgerFact[];
}

const OF = { vehicle: 'veh-0001', session: 's1' } as const;

/** Frames of each batch, and what became of them. */
export const FRAMES = { recorded: 100, decoded: 80, unknownId: 15, noData: 5 } as const;

export const exampleRecord = (seq: number, change: Partial<BatchRecord> = {}): BatchRecord => ({
  ...OF,
  seq,
  fromUs: seq * 1_000_000,
  untilUs: (seq + 1) * 1_000_000,
  frames: FRAMES.recorded,
  bytes: 500,
  intendedMs: (seq + 1) * 200,
  readyMs: (seq + 1) * 200 + 1,
  firstSentMs: (seq + 1) * 200 + 2,
  sentMs: (seq + 1) * 200 + 2,
  ackedMs: (seq + 1) * 200 + 10,
  exportedMs: (seq + 1) * 200 + 50,
  attempts: 1,
  outcome: 'stored',
  duplicate: false,
  emptied: false,
  detail: '',
  ...change,
});

export const exampleReceipt = (seq: number, change: Partial<ReceiptCard> = {}): ReceiptCard => ({
  kind: 'receipt',
  ...OF,
  seq,
  frames: FRAMES.recorded,
  framesByWindow: [[seq, FRAMES.recorded]],
  seen: FRAMES.recorded,
  matched: FRAMES.recorded,
  recordedByVehicle: FRAMES.recorded,
  dropped: {},
  end: false,
  flags: [],
  receivedAtMs: 1_000 + seq,
  ...change,
});

export const exampleResult = (window: number, change: Partial<ResultCard> = {}): ResultCard => ({
  kind: 'result',
  ...OF,
  window,
  revision: 1,
  ...FRAMES,
  truncated: 3,
  unknownSelector: 2,
  longer: 0,
  duplicateFrames: 0,
  unsortedFrames: 0,
  ...change,
});

export function exampleRun(batches = 3): ExampleRun {
  const records = Array.from({ length: batches }, (_, seq) => exampleRecord(seq));
  const facts = records.flatMap(({ seq }): LedgerFact[] => [
    { kind: 'batch', ...OF, seq },
    exampleReceipt(seq),
    { kind: 'window', ...OF, window: seq, revision: 1, ownSeqs: [seq], reason: 'covered' },
    exampleResult(seq),
    { kind: 'export', ...OF, window: seq, revision: 1, withSession: false, files: [] },
  ]);
  const rows = FRAMES.decoded * batches;
  const file = (path: string): { path: string; bytes: number; rows: number; sha256: string } => ({
    path: `veh-0001/s1/${path}`,
    bytes: 1_000,
    rows,
    sha256: 'ab',
  });
  facts.push(
    {
      kind: 'session',
      ...OF,
      revision: 1,
      reason: 'endMark',
      batches,
      frames: FRAMES.recorded * batches,
      gaps: [],
    },
    {
      kind: 'export',
      ...OF,
      window: null,
      revision: 1,
      withSession: false,
      files: [file('recorded/can0-SPEED.parquet'), file('recorded/can0-SPEED.csv')],
    },
  );
  return { records, facts };
}
