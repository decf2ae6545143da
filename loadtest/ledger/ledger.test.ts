import { expect, test } from 'vitest';
import { ledger } from './ledger.ts';
import { exampleReceipt, exampleRecord, exampleResult, exampleRun } from './testing/example-run.ts';
import type { LedgerFact } from './ledger-fact.ts';

const OF = { vehicle: 'veh-0001', session: 's1' } as const;

const without = (
  facts: readonly LedgerFact[],
  isGone: (fact: LedgerFact) => boolean,
): readonly LedgerFact[] => facts.filter((fact) => !isGone(fact));

const failing = (result: ReturnType<typeof ledger>): readonly string[] =>
  result.identities.filter(({ holds }) => !holds).map(({ name }) => name);

test('ledger of a run in which everything came out: balanced, nothing missing, no problem', () => {
  const result = ledger(exampleRun(3));
  expect(result.account).toEqual({
    batches: {
      sent: 3,
      refused: 0,
      unresolved: 0,
      stored: 3,
      inWindows: 3,
      waiting: 0,
      duplicates: 0,
      reordered: 0,
    },
    windows: {
      closed: 3,
      processed: 3,
      parked: 0,
      pendingProcessing: 0,
      exported: 3,
      exportedWithSession: 0,
      pendingExport: 0,
    },
    frames: {
      recorded: 300,
      decoded: 240,
      unknownId: 45,
      unknownSelector: 6,
      noData: 15,
      truncated: 9,
      unprocessed: 0,
      droppedByVehicle: 0,
    },
    gaps: [],
    balanced: true,
  });
  expect(result.missing).toBe(0);
  expect(result.problems).toEqual([]);
});

test('ledger of nothing: balanced with zeros', () => {
  const result = ledger({ records: [], facts: [] });
  expect(result.account.balanced).toBe(true);
  expect(result.problems).toEqual([]);
});

test('ledger with a stored batch nobody sent: sent ≠ stored + refused + unresolved', () => {
  const run = exampleRun(3);
  run.records.pop();
  const result = ledger(run);
  expect(failing(result)).toEqual(['batches: sent = stored + refused + unresolved']);
  expect(result.problems[0]).toBe(
    'batches: sent = stored + refused + unresolved does not hold: 2 ≠ 3 (1 too many on the right)',
  );
});

test('ledger with an acknowledged batch that is not in the store: unbalanced and missing', () => {
  const { records, facts } = exampleRun(3);
  const result = ledger({ records: [...records, exampleRecord(3)], facts });
  expect(failing(result)).toEqual(['batches: sent = stored + refused + unresolved']);
  expect(result.missing).toBe(1);
  expect(result.problems).toContain(
    'missing: 1 batches acknowledged but not in the store: veh-0001/s1/3',
  );
});

test('ledger with a window of a batch that is not stored: stored ≠ inWindows + waiting', () => {
  const { records, facts } = exampleRun(3);
  const invented: LedgerFact = {
    kind: 'window',
    ...OF,
    window: 2,
    revision: 2,
    ownSeqs: [2, 7],
    reason: 'late',
  };
  const result = ledger({
    records,
    facts: [
      ...facts,
      invented,
      exampleResult(2, { revision: 2 }),
      { kind: 'export', ...OF, window: 2, revision: 2, withSession: false, files: [] },
    ],
  });
  expect(failing(result)).toEqual(['batches: stored = inWindows + waiting']);
});

test('ledger with a result of a window that was never closed: closed ≠ processed + …', () => {
  const { records, facts } = exampleRun(3);
  const nothing = { recorded: 0, decoded: 0, unknownId: 0, noData: 0 };
  const result = ledger({
    records,
    facts: [
      ...facts,
      exampleResult(9, nothing),
      { kind: 'export', ...OF, window: 9, revision: 1, withSession: false, files: [] },
    ],
  });
  expect(failing(result)).toEqual(['windows: closed = processed + parked + pendingProcessing']);
});

test('ledger with a part of a window without result: processed ≠ exported + pendingExport', () => {
  const { records, facts } = exampleRun(3);
  const kept = without(facts, (fact) => fact.kind === 'result' && fact.window === 1);
  const result = ledger({ records, facts: kept });
  expect(failing(result)).toEqual(['windows: processed = exported + pendingExport']);
  expect(result.account.windows.pendingProcessing).toBe(1);
  expect(result.account.frames.unprocessed).toBe(100);
});

test('ledger with a frame lost in processing: recorded ≠ decoded + unknownId + noData + …', () => {
  const { records, facts } = exampleRun(3);
  const changed = facts.map((fact) =>
    fact.kind === 'result' && fact.window === 1 ? { ...fact, decoded: fact.decoded - 1 } : fact,
  );
  const result = ledger({ records, facts: changed });
  expect(failing(result)).toEqual([
    'frames: recorded = decoded + unknownId + noData + unprocessed',
  ]);
  expect(result.account.balanced).toBe(false);
  expect(result.problems[0]).toContain('300 ≠ 299');
});

test('ledger with an unresolved batch: balanced, but missing', () => {
  const { records, facts } = exampleRun(3);
  const unresolved = exampleRecord(3, { outcome: 'unresolved', ackedMs: null });
  const result = ledger({ records: [...records, unresolved], facts });
  expect(result.account.balanced).toBe(true);
  expect(result.account.batches).toMatchObject({ sent: 4, stored: 3, unresolved: 1 });
  expect(result.missing).toBe(1);
  expect(result.problems).toHaveLength(1);
});

test('ledger with an unresolved batch that the store has: counted as stored, not missing', () => {
  const { records, facts } = exampleRun(3);
  const [first, ...rest] = records;
  expect(first?.seq).toBe(0);
  const lostAnswer = exampleRecord(0, { outcome: 'unresolved', ackedMs: null });
  const result = ledger({ records: [lostAnswer, ...rest], facts });
  expect(result.account.batches).toMatchObject({ sent: 3, stored: 3, unresolved: 0 });
  expect(result.problems).toEqual([]);
});

test('ledger with a refused batch: counted, and a gap that nobody planned', () => {
  const { records, facts } = exampleRun(3);
  const kept = without(
    facts,
    (fact) =>
      ('seq' in fact && fact.seq === 1) ||
      ('window' in fact && fact.window === 1) ||
      (fact.kind === 'export' && fact.window === null),
  ).map((fact) =>
    fact.kind === 'session' ? { ...fact, gaps: [{ firstSeq: 1, lastSeq: 1 }] } : fact,
  );
  const refused = records.map((record) =>
    record.seq === 1 ? { ...record, outcome: 'refused' as const } : record,
  );
  const result = ledger({ records: refused, facts: kept });
  expect(result.account.balanced).toBe(true);
  expect(result.account.batches.refused).toBe(1);
  expect(result.account.gaps).toEqual([{ ...OF, firstSeq: 1, lastSeq: 1, planned: false }]);
  expect(result.problems).toEqual([
    'session veh-0001/s1: batches 1 to 1 are missing',
    'session veh-0001/s1 was closed and never compacted',
  ]);
});

test('ledger with a planned gap: listed, not missing, no problem', () => {
  const { records, facts } = exampleRun(4);
  const kept = without(
    facts,
    (fact) =>
      ('seq' in fact && (fact.seq === 1 || fact.seq === 2)) ||
      ('window' in fact && (fact.window === 1 || fact.window === 2)),
  ).map((fact) => {
    if (fact.kind === 'session') return { ...fact, gaps: [{ firstSeq: 1, lastSeq: 2 }] };
    if (fact.kind !== 'export' || fact.window !== null) return fact;
    return { ...fact, files: fact.files.map((file) => ({ ...file, rows: 160 })) };
  });
  const result = ledger({
    records: records.filter(({ seq }) => seq === 0 || seq === 3),
    facts: kept,
    plannedGaps: [
      { ...OF, seq: 1 },
      { ...OF, seq: 2 },
    ],
  });
  expect(result.account.gaps).toEqual([{ ...OF, firstSeq: 1, lastSeq: 2, planned: true }]);
  expect(result.problems).toEqual([]);
});

test('ledger with a session that was closed with another gap than the store has: a problem', () => {
  const { records, facts } = exampleRun(3);
  const changed = facts.map((fact) =>
    fact.kind === 'session' ? { ...fact, gaps: [{ firstSeq: 1, lastSeq: 2 }] } : fact,
  );
  expect(ledger({ records, facts: changed }).problems).toEqual([
    'session veh-0001/s1: closed with 2 missing batches, the store misses 0',
  ]);
});

test('ledger with a parked window: accounted for, its frames unprocessed, nothing missing', () => {
  const { records, facts } = exampleRun(3);
  const kept = without(
    facts,
    (fact) =>
      (fact.kind === 'result' || fact.kind === 'export') && 'window' in fact && fact.window === 2,
  ).map((fact) =>
    fact.kind === 'export' && fact.window === null
      ? { ...fact, files: fact.files.map((file) => ({ ...file, rows: 160 })) }
      : fact,
  );
  const parked: LedgerFact = {
    kind: 'parked',
    ...OF,
    stage: 'data-processing',
    reason: 'exhausted',
    detail: '',
    type: 'io.tachograph.window.ready.v1',
    window: 2,
    revision: 1,
  };
  const result = ledger({ records, facts: [...kept, parked] });
  expect(result.account.windows).toMatchObject({ closed: 3, processed: 2, parked: 1 });
  expect(result.account.frames.unprocessed).toBe(100);
  expect(result.missing).toBe(0);
  expect(result.problems).toEqual([]);
});

test('ledger with a window of which only an older revision is processed: pending, missing', () => {
  const { records, facts } = exampleRun(3);
  const late: LedgerFact = {
    kind: 'window',
    ...OF,
    window: 2,
    revision: 2,
    ownSeqs: [2],
    reason: 'late',
  };
  const result = ledger({ records, facts: [...facts, late] });
  expect(result.account.windows).toMatchObject({ processed: 2, pendingProcessing: 1, exported: 2 });
  expect(result.account.frames).toMatchObject({ unprocessed: 100, decoded: 160 });
  expect(result.account.balanced).toBe(true);
  expect(result.missing).toBe(1);
});

test("ledger with windows that only their session's files hold: exported, and counted apart", () => {
  const { records, facts } = exampleRun(3);
  const changed = facts.map((fact) =>
    fact.kind === 'export' && fact.window !== null && fact.window > 0
      ? { ...fact, withSession: true }
      : fact,
  );
  // Of an older revision it says nothing.
  const old: LedgerFact = {
    kind: 'export',
    ...OF,
    window: 0,
    revision: 0,
    withSession: true,
    files: [],
  };
  const result = ledger({ records, facts: [...changed, old] });
  expect(result.account.windows).toMatchObject({ exported: 3, exportedWithSession: 2 });
  expect(result.problems).toEqual([]);
});

test('ledger with a stored batch in no window: waiting and missing', () => {
  const { records, facts } = exampleRun(3);
  const kept = without(
    facts,
    (fact) => 'window' in fact && fact.window === 2 && fact.kind !== 'parked',
  );
  const result = ledger({ records, facts: kept });
  expect(result.account.batches).toMatchObject({ inWindows: 2, waiting: 1 });
  expect(result.account.balanced).toBe(true);
  expect(result.problems).toContain(
    'missing: 1 batches stored but neither exported nor parked: veh-0001/s1/2',
  );
});

test('ledger with a batch over two windows of which one is exported: missing', () => {
  const { records, facts } = exampleRun(2);
  const changed = facts.map((fact) =>
    fact.kind === 'window' && fact.window === 1 ? { ...fact, ownSeqs: [0, 1] } : fact,
  );
  const kept = without(changed, (fact) => fact.kind === 'export' && fact.window === 1);
  expect(ledger({ records, facts: kept }).missing).toBe(2);
});

test('ledger of receipts that came in as 0 2 1 and 3 0 1 2: one and three reordered', () => {
  const order = (times: readonly number[]): number => {
    const facts = times.map((receivedAtMs, seq) => exampleReceipt(seq, { receivedAtMs }));
    return ledger({ records: [], facts }).account.batches.reordered;
  };
  expect(order([10, 30, 20])).toBe(1);
  expect(order([20, 30, 40, 10])).toBe(3);
});

test('ledger of facts read twice: counted once', () => {
  const { records, facts } = exampleRun(3);
  const twice = ledger({ records: [...records, ...records], facts: [...facts, ...facts] });
  expect(twice).toEqual(ledger({ records, facts }));
});

test('ledger of duplicates and drops: counted', () => {
  const { records, facts } = exampleRun(2);
  const changed = facts.map((fact) =>
    fact.kind === 'receipt' && fact.seq === 0
      ? { ...fact, dropped: { bufferFull: 7, rateLimit: 2 } }
      : fact,
  );
  const repeated = records.map((record) => ({ ...record, duplicate: record.seq === 1 }));
  const { account } = ledger({ records: repeated, facts: changed });
  expect(account.batches.duplicates).toBe(1);
  expect(account.frames.droppedByVehicle).toBe(9);
});

test.each([
  [
    'a stored batch without receipt',
    (facts: readonly LedgerFact[]) =>
      without(facts, (fact) => fact.kind === 'receipt' && fact.seq === 2),
    '1 stored batches have no receipt',
  ],
  [
    'a receipt without stored batch',
    (facts: readonly LedgerFact[]) =>
      without(facts, (fact) => fact.kind === 'batch' && fact.seq === 2),
    '1 receipts have no stored batch',
  ],
  [
    'a session that was never closed',
    (facts: readonly LedgerFact[]) => without(facts, (fact) => fact.kind === 'session'),
    'session veh-0001/s1 was never closed',
  ],
  [
    'a file with a row too few',
    (facts: readonly LedgerFact[]) =>
      facts.map((fact) =>
        fact.kind === 'export' && fact.window === null
          ? { ...fact, files: fact.files.map((file) => ({ ...file, rows: file.rows - 1 })) }
          : fact,
      ),
    'the exported csv files hold 239 recorded rows, decoded frames: 240',
  ],
  [
    'a batch in quarantine',
    (facts: readonly LedgerFact[]): readonly LedgerFact[] => [
      ...facts,
      { kind: 'quarantine', ...OF, seq: 1, sha256: 'cd' },
    ],
    '1 batches with a used number and another content are in quarantine',
  ],
])('ledger with %s: says so', (_, change, problem) => {
  const { records, facts } = exampleRun(3);
  expect(ledger({ records, facts: change(facts) }).problems).toContain(problem);
});

test('ledger of a window that was emulated: processed, and its frames are unprocessed', () => {
  const { records, facts } = exampleRun(2);
  const none = { recorded: 0, decoded: 0, unknownId: 0, noData: 0, truncated: 0 } as const;
  const emulated = exampleResult(1, { ...none, unknownSelector: 0, emulated: true });
  const changed = facts.map((fact) =>
    fact.kind === 'result' && fact.window === 1 ? emulated : fact,
  );
  const { account } = ledger({ records, facts: changed });
  expect(account.balanced).toBe(true);
  expect(account.windows).toMatchObject({ processed: 2, pendingProcessing: 0 });
  expect(account.frames).toMatchObject({ recorded: 200, decoded: 80, unprocessed: 100 });
});

test.each([false, true])(
  'ledger of a window emulated and computed: the computed result counts (reversed: %s)',
  (isReversed) => {
    const { records, facts } = exampleRun(1);
    const emulated = exampleResult(0, { recorded: 0, decoded: 0, emulated: true });
    const both = [...facts, emulated];
    const { account } = ledger({ records, facts: isReversed ? both.toReversed() : both });
    expect(account.frames).toMatchObject({ decoded: 80, unprocessed: 0 });
  },
);
