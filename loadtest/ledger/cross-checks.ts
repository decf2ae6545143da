import { sessionKey } from './fact-index.ts';
import type { FactIndex } from './fact-index.ts';
import type { ExportCard } from './ledger-fact.ts';

/** Facts that must agree with each other beside the identities; what does not, in words. */
export function crossChecks(index: FactIndex, decoded: number): readonly string[] {
  return [
    ...receiptsMatchBatches(index),
    ...sessionsAreCompacted(index),
    ...rowsMatchFrames(index, decoded),
    ...quarantined(index),
  ];
}

function receiptsMatchBatches(index: FactIndex): readonly string[] {
  const without = [...index.batches].filter((key) => !index.receipts.has(key));
  const alone = [...index.receipts.keys()].filter((key) => !index.batches.has(key));
  const problems: string[] = [];
  if (without.length > 0) problems.push(`${without.length} stored batches have no receipt`);
  if (alone.length > 0) problems.push(`${alone.length} receipts have no stored batch`);
  return problems;
}

function sessionsAreCompacted(index: FactIndex): readonly string[] {
  const sessions = new Set([...index.receipts.values()].map((receipt) => sessionKey(receipt)));
  return [...sessions].flatMap((key) => {
    if (!index.sessions.has(key)) return [`session ${key} was never closed`];
    const compacted = index.compacted.get(key);
    if (compacted === undefined) return [`session ${key} was closed and never compacted`];
    return [];
  });
}

/**
 * Each decoded frame is one row of its message in the `recorded` set, so the rows of the compacted
 * files add up to the decoded frames, once all sessions are compacted. Counted by one format: the
 * other holds the same rows.
 */
function rowsMatchFrames(index: FactIndex, decoded: number): readonly string[] {
  const exports = [...index.compacted.values()];
  if (exports.length === 0 || exports.length < index.sessions.size) return [];
  return ['parquet', 'csv'].flatMap((format) => {
    const rows = exports.reduce((sum, card) => sum + recordedRows(card, format), 0);
    if (rows === decoded || !hasFormat(exports, format)) return [];
    return [`the exported ${format} files hold ${rows} recorded rows, decoded frames: ${decoded}`];
  });
}

const hasFormat = (exports: readonly ExportCard[], format: string): boolean =>
  exports.some(({ files }) => files.some(({ path }) => path.endsWith(`.${format}`)));

const recordedRows = ({ files }: ExportCard, format: string): number =>
  files
    .filter(({ path }) => path.includes('/recorded/') && path.endsWith(`.${format}`))
    .reduce((sum, { rows }) => sum + rows, 0);

function quarantined({ quarantine }: FactIndex): readonly string[] {
  if (quarantine.length === 0) return [];
  return [`${quarantine.length} batches with a used number and another content are in quarantine`];
}
