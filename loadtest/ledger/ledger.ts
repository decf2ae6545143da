import { batchAccount } from './batch-account.ts';
import { batchKey, indexFacts } from './fact-index.ts';
import { frameAccount } from './frame-account.ts';
import { findGaps } from './find-gaps.ts';
import { findMissing } from './find-missing.ts';
import { crossChecks } from './cross-checks.ts';
import { windowAccount } from './window-account.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { Account, Identity, Ledger } from './account.ts';
import type { BatchKey, LedgerFact } from './ledger-fact.ts';

export interface LedgerInput {
  /** The vehicles' word: one record a batch they cut. */
  readonly records: Iterable<BatchRecord>;
  /** The store's word. */
  readonly facts: Iterable<LedgerFact>;
  /** Batches the profile leaves out on purpose. */
  readonly plannedGaps?: Iterable<BatchKey>;
}

const identity = (name: string, left: number, right: number): Identity => ({
  name,
  left,
  right,
  holds: left === right,
});

/**
 * The account of a run, by distinct key. Every number of an identity is counted by itself, never as
 * the rest of the others, so an identity that does not hold points at something lost, invented or
 * counted twice.
 */
export function ledger({ records, facts, plannedGaps = [] }: LedgerInput): Ledger {
  const index = indexFacts(facts);
  const sent = new Map([...records].map((record) => [batchKey(record), record] as const));
  const batches = batchAccount(sent, index);
  const windows = windowAccount(index);
  const frames = frameAccount(index);
  const { gaps, problems: gapProblems } = findGaps(index, new Set([...plannedGaps].map(batchKey)));
  const identities = [
    identity(
      'batches: sent = stored + refused + unresolved',
      batches.sent,
      batches.stored + batches.refused + batches.unresolved,
    ),
    identity(
      'batches: stored = inWindows + waiting',
      batches.stored,
      batches.inWindows + batches.waiting,
    ),
    identity(
      'windows: closed = processed + parked + pendingProcessing',
      windows.closed,
      windows.processed + windows.parked + windows.pendingProcessing,
    ),
    identity(
      'windows: processed = exported + pendingExport',
      windows.processed,
      windows.exported + windows.pendingExport,
    ),
    identity(
      'frames: recorded = decoded + unknownId + noData + unprocessed',
      frames.recorded,
      frames.decoded + frames.unknownId + frames.noData + frames.unprocessed,
    ),
  ];
  const balanced = identities.every(({ holds }) => holds);
  const missing = findMissing(sent, index);
  const account: Account = { batches, windows, frames, gaps, balanced };
  const problems = [
    ...identities.filter(({ holds }) => !holds).map(inWords),
    ...missing.problems,
    ...gapProblems,
    ...crossChecks(index, frames.decoded),
  ];
  return { account, identities, missing: missing.batches, problems };
}

function inWords({ name, left, right }: Identity): string {
  const difference = left - right;
  const what = difference > 0 ? 'too few' : 'too many';
  return `${name} does not hold: ${left} ≠ ${right} (${Math.abs(difference)} ${what} on the right)`;
}
