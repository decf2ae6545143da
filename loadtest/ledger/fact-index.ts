import type {
  ExportCard,
  LedgerFact,
  ParkedCard,
  QuarantineCard,
  ReceiptCard,
  ResultCard,
  SessionCard,
  WindowCard,
} from './ledger-fact.ts';

/** The facts of a run by distinct key; of revisions, the newest. */
export interface FactIndex {
  readonly batches: ReadonlySet<string>;
  readonly receipts: ReadonlyMap<string, ReceiptCard>;
  /** Newest revision of each window. */
  readonly windows: ReadonlyMap<string, WindowCard>;
  /** By window and revision. */
  readonly results: ReadonlyMap<string, ResultCard>;
  /** Window parts by window and revision. */
  readonly parts: ReadonlyMap<string, ExportCard>;
  /** Newest compacted export of each session. */
  readonly compacted: ReadonlyMap<string, ExportCard>;
  readonly sessions: ReadonlyMap<string, SessionCard>;
  readonly parked: readonly ParkedCard[];
  readonly quarantine: readonly QuarantineCard[];
}

export const sessionKey = (of: { vehicle: string; session: string }): string =>
  `${of.vehicle}/${of.session}`;

export const batchKey = (of: { vehicle: string; session: string; seq: number }): string =>
  `${of.vehicle}/${of.session}/${of.seq}`;

export const windowKey = (of: { vehicle: string; session: string; window: number }): string =>
  `${of.vehicle}/${of.session}/${of.window}`;

export const revisionKey = (of: {
  vehicle: string;
  session: string;
  window: number;
  revision: number;
}): string => `${windowKey(of)}/${of.revision}`;

interface Revised {
  readonly revision: number;
}

function keepNewest<T extends Revised>(map: Map<string, T>, key: string, card: T): void {
  const known = map.get(key);
  if (known === undefined || known.revision < card.revision) map.set(key, card);
}

/** A window may have been emulated and processed: what was computed is its result. */
function keepComputed(map: Map<string, ResultCard>, key: string, card: ResultCard): void {
  if (card.emulated !== true || !map.has(key)) map.set(key, card);
}

export function indexFacts(facts: Iterable<LedgerFact>): FactIndex {
  const index = {
    batches: new Set<string>(),
    receipts: new Map<string, ReceiptCard>(),
    windows: new Map<string, WindowCard>(),
    results: new Map<string, ResultCard>(),
    parts: new Map<string, ExportCard>(),
    compacted: new Map<string, ExportCard>(),
    sessions: new Map<string, SessionCard>(),
    parked: [] as ParkedCard[],
    quarantine: [] as QuarantineCard[],
  };
  for (const fact of facts) {
    switch (fact.kind) {
      case 'batch':
        index.batches.add(batchKey(fact));
        break;
      case 'receipt':
        index.receipts.set(batchKey(fact), fact);
        break;
      case 'window':
        keepNewest(index.windows, windowKey(fact), fact);
        break;
      case 'result':
        keepComputed(index.results, revisionKey(fact), fact);
        break;
      case 'export':
        if (fact.window === null) keepNewest(index.compacted, sessionKey(fact), fact);
        else index.parts.set(revisionKey({ ...fact, window: fact.window }), fact);
        break;
      case 'session':
        keepNewest(index.sessions, sessionKey(fact), fact);
        break;
      case 'parked':
        index.parked.push(fact);
        break;
      case 'quarantine':
        index.quarantine.push(fact);
        break;
    }
  }
  return index;
}
