import { expect, test } from 'vitest';
import { exampleRecord } from '#loadtest/ledger/testing/example-run.ts';
import { ExportTracker, stillMissing } from './export-tracker.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';

const range = (firstSeq: number, lastSeq = firstSeq) => ({ firstSeq, lastSeq });

/** With its own batch, unless said otherwise; a session with 0 to 9. */
const exported = (
  window: number | null,
  batches = window === null ? [range(0, 9)] : [range(window)],
): DatasetExported => ({
  vehicle: 'veh-0001',
  session: 's1',
  window,
  revision: 1,
  files: 2,
  batches,
});

const record = (seq: number, change: Partial<BatchRecord> = {}): BatchRecord =>
  exampleRecord(seq, { exportedMs: null, ...change });

test('exportedMs of a batch whose window came: the arrival', () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteExport(exported(0), 260);
  expect(tracker.exportedMs(record(0))).toBe(260);
  expect(tracker.exportedMs(record(1))).toBeNull();
});

test('exportedMs when the announcement overtook the acknowledgement: still counted', () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteExport(exported(0), 205);
  expect(tracker.exportedMs(record(0, { sentMs: 202, ackedMs: 210 }))).toBe(205);
});

test('exportedMs of a window that closed without the batch: only one that names it counts', () => {
  const tracker = new ExportTracker(1_000);
  const late = record(3, { fromUs: 0, untilUs: 1_000_000, sentMs: 500, ackedMs: 510 });
  tracker.noteExport(exported(0, [range(0, 2)]), 400);
  // On its way when the batch was stored: it came later than that and still does not hold it.
  tracker.noteExport(exported(0, [range(0, 2)]), 520);
  expect(tracker.exportedMs(late)).toBeNull();
  tracker.noteExport(exported(0, [range(0, 3)]), 700);
  expect(tracker.exportedMs(late)).toBe(700);
});

test('exportedMs of announcements that name no batches: those since the stored attempt count', () => {
  for (const window of [0, null]) {
    const tracker = new ExportTracker(1_000);
    tracker.noteExport(exported(window, []), 400);
    const again = { firstSentMs: 202, sentMs: 500 };
    expect(tracker.exportedMs(record(0, again))).toBeNull();
    // The first attempt of a duplicate was the stored one.
    expect(tracker.exportedMs(record(0, { ...again, duplicate: true }))).toBe(400);
    tracker.noteExport(exported(window, []), 700);
    expect(tracker.exportedMs(record(0, again))).toBe(700);
  }
});

test("exportedMs of a batch whose session came before its window: the session's arrival", () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteExport(exported(null), 300);
  expect(tracker.exportedMs(record(0))).toBe(300);
  tracker.noteExport(exported(0), 900);
  expect(tracker.exportedMs(record(0))).toBe(300);
});

test("exportedMs of a batch whose window came before its session: the window's arrival", () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteExport(exported(0), 260);
  tracker.noteExport(exported(null), 300);
  expect(tracker.exportedMs(record(0))).toBe(260);
});

test('exportedMs of a late batch: a session that was compacted without it does not count', () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteExport(exported(null, [range(0), range(2, 9)]), 300);
  expect([0, 1, 2].map((seq) => tracker.exportedMs(record(seq)))).toEqual([300, null, 300]);
  tracker.noteExport(exported(null, [range(0, 9)]), 800);
  tracker.noteExport(exported(1), 900);
  expect([0, 1, 2].map((seq) => tracker.exportedMs(record(seq)))).toEqual([300, 800, 300]);
});

test('exportedMs of a batch over two windows of which one came: its session is first', () => {
  const tracker = new ExportTracker(1_000);
  const long = record(0, { fromUs: 500_000, untilUs: 1_500_000 });
  tracker.noteExport(exported(0), 200);
  tracker.noteExport(exported(null), 400);
  tracker.noteExport(exported(1, [range(0, 1)]), 600);
  expect(tracker.exportedMs(long)).toBe(400);
});

test('exportedMs of a batch over two windows: when the later of them came', () => {
  const tracker = new ExportTracker(1_000);
  const long = record(0, { fromUs: 500_000, untilUs: 1_500_000 });
  tracker.noteExport(exported(0), 900);
  expect(tracker.exportedMs(long)).toBeNull();
  tracker.noteExport(exported(1, [range(0, 1)]), 600);
  expect(tracker.exportedMs(long)).toBe(900);
});

test('exportedMs of a batch that ends on a window edge: the window after it does not matter', () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteExport(exported(1), 900);
  expect(tracker.exportedMs(record(1))).toBe(900);
});

test('exportedMs of a batch that is not stored: null', () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteExport(exported(0), 900);
  expect(tracker.exportedMs(record(0, { outcome: 'refused' }))).toBeNull();
});

test('progress and stillMissing: what is not out, by session, until its data set is announced', () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteRecord(record(0));
  tracker.noteRecord(record(1));
  tracker.noteRecord(record(2, { outcome: 'unresolved', ackedMs: null }));
  tracker.noteExport(exported(0), 300);
  expect(tracker.progress()).toEqual([
    {
      vehicle: 'veh-0001',
      session: 's1',
      sent: 3,
      acknowledged: 2,
      exported: 1,
      windowsOpen: 1,
      compacted: false,
    },
  ]);
  expect(stillMissing(tracker.progress())).toEqual([
    'veh-0001/s1: 1 batches not exported',
    'veh-0001/s1: its complete data set was not announced',
  ]);
  tracker.noteExport(exported(1), 500);
  // Late, and still without the second batch.
  tracker.noteExport(exported(null, [range(0)]), 600);
  expect(stillMissing(tracker.progress())).toEqual([
    'veh-0001/s1: its complete data set was not announced',
  ]);
  tracker.noteExport(exported(null, [range(0, 1)]), 700);
  expect(stillMissing(tracker.progress())).toEqual([]);
  expect(tracker.announcements).toBe(4);
});

test("stillMissing of batches that are out with their session alone: their windows' facts are to come", () => {
  const tracker = new ExportTracker(1_000);
  for (const seq of [0, 1]) tracker.noteRecord(record(seq));
  tracker.noteExport(exported(null), 300);
  expect(tracker.progress()).toMatchObject([{ exported: 2, windowsOpen: 2, compacted: true }]);
  expect(stillMissing(tracker.progress())).toEqual([
    "veh-0001/s1: 2 batches without their windows' announcement",
  ]);
  for (const window of [0, 1]) tracker.noteExport(exported(window), 400);
  expect(stillMissing(tracker.progress())).toEqual([]);
});

test('records: newest of each batch, ordered, with its export', () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteRecord(record(1));
  tracker.noteRecord(record(0, { attempts: 1 }));
  tracker.noteRecord(record(0, { attempts: 2 }));
  tracker.noteExport(exported(0), 300);
  expect(
    tracker.records().map(({ seq, attempts, exportedMs }) => [seq, attempts, exportedMs]),
  ).toEqual([
    [0, 2, 300],
    [1, 1, null],
  ]);
});

test('exportedMs of an emulated batch: by the window of its number, whatever times it gives', () => {
  const tracker = new ExportTracker(1_000);
  const emulated = record(7, { emulated: true, fromUs: 0, untilUs: 9_000_000, sentMs: 10 });
  tracker.noteExport(exported(0), 100);
  expect(tracker.exportedMs(emulated)).toBeNull();
  tracker.noteExport(exported(7), 120);
  expect(tracker.exportedMs(emulated)).toBe(120);
});

test('progress asked again and again: counts each batch once', () => {
  const tracker = new ExportTracker(1_000);
  tracker.noteRecord(record(0, { outcome: 'unresolved', sentMs: 202 }));
  tracker.noteExport(exported(0), 205);
  expect(tracker.progress()).toMatchObject([{ sent: 1, acknowledged: 0, exported: 0 }]);
  tracker.noteRecord(record(0, { sentMs: 202 }));
  tracker.noteRecord(record(1));
  expect(tracker.progress()).toMatchObject([{ sent: 2, acknowledged: 2, exported: 1 }]);
  expect(tracker.progress()).toMatchObject([{ sent: 2, acknowledged: 2, exported: 1 }]);
});
