/**
 * What the ledger is made of: one small record a fact of the store, a line of `facts.ndjson`. With the
 * vehicles' own records (`events.ndjson`) it is all that the account and the report are rebuilt from.
 */
export interface BatchKey {
  readonly vehicle: string;
  readonly session: string;
  readonly seq: number;
}

export interface WindowKey {
  readonly vehicle: string;
  readonly session: string;
  readonly window: number;
}

export interface StoredBatchFact extends BatchKey {
  readonly kind: 'batch';
}

export interface ReceiptCard extends BatchKey {
  readonly kind: 'receipt';
  /** Counted by the service from the stored body. */
  readonly frames: number;
  /** Frames by window, as [window, frames]: more than one where the batch spans several. */
  readonly framesByWindow: readonly (readonly [number, number])[];
  readonly seen: number;
  readonly matched: number;
  readonly recordedByVehicle: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly end: boolean;
  readonly emulated?: true;
  readonly flags: readonly string[];
  readonly receivedAtMs: number;
}

export interface WindowCard extends WindowKey {
  readonly kind: 'window';
  readonly revision: number;
  readonly ownSeqs: readonly number[];
  readonly reason: string;
}

export interface ResultCard extends WindowKey {
  readonly kind: 'result';
  readonly revision: number;
  /** Nothing was computed: the window is emulated, or a demand stood for the work. */
  readonly emulated?: true;
  readonly recorded: number;
  readonly decoded: number;
  readonly unknownId: number;
  readonly noData: number;
  readonly truncated: number;
  readonly unknownSelector: number;
  readonly longer: number;
  readonly duplicateFrames: number;
  readonly unsortedFrames: number;
}

export interface ExportCard {
  readonly kind: 'export';
  readonly vehicle: string;
  readonly session: string;
  /** null: the session, compacted. */
  readonly window: number | null;
  readonly revision: number;
  /** The window has no part of its own: its data were in its session's files before. */
  readonly withSession: boolean;
  /** Relative to the export root. */
  readonly files: readonly {
    readonly path: string;
    readonly bytes: number;
    readonly rows: number;
    readonly sha256: string;
  }[];
}

export interface SessionCard {
  readonly kind: 'session';
  readonly vehicle: string;
  readonly session: string;
  readonly revision: number;
  readonly reason: string;
  readonly batches: number;
  readonly frames: number;
  readonly gaps: readonly { readonly firstSeq: number; readonly lastSeq: number }[];
}

export interface ParkedCard {
  readonly kind: 'parked';
  readonly vehicle: string;
  readonly stage: string;
  readonly reason: string;
  readonly detail: string;
  /** The parked event's type, and what it names; null where it names none. */
  readonly type: string;
  readonly session: string | null;
  readonly window: number | null;
  readonly revision: number | null;
}

export interface QuarantineCard extends BatchKey {
  readonly kind: 'quarantine';
  readonly sha256: string;
}

export type LedgerFact =
  | StoredBatchFact
  | ReceiptCard
  | WindowCard
  | ResultCard
  | ExportCard
  | SessionCard
  | ParkedCard
  | QuarantineCard;
