/** The account of a run, as `summary.json` has it. Documented in docs/results.md. */
export interface BatchAccount {
  readonly sent: number;
  readonly refused: number;
  readonly unresolved: number;
  readonly stored: number;
  readonly inWindows: number;
  readonly waiting: number;
  readonly duplicates: number;
  readonly reordered: number;
}

export interface WindowAccount {
  readonly closed: number;
  readonly processed: number;
  readonly parked: number;
  readonly pendingProcessing: number;
  readonly exported: number;
  /** Of these, the ones without a part of their own. */
  readonly exportedWithSession: number;
  readonly pendingExport: number;
}

export interface FramesAccount {
  readonly recorded: number;
  readonly decoded: number;
  readonly unknownId: number;
  readonly unknownSelector: number;
  readonly noData: number;
  readonly truncated: number;
  readonly unprocessed: number;
  readonly droppedByVehicle: number;
}

export interface GapEntry {
  readonly vehicle: string;
  readonly session: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The profile left them out on purpose: listed, not missing. */
  readonly planned: boolean;
}

export interface Account {
  readonly batches: BatchAccount;
  readonly windows: WindowAccount;
  readonly frames: FramesAccount;
  readonly gaps: readonly GapEntry[];
  readonly balanced: boolean;
}

/** One equation of the account, with its numbers. */
export interface Identity {
  /** `stored = inWindows + waiting` */
  readonly name: string;
  readonly left: number;
  readonly right: number;
  readonly holds: boolean;
}

export interface Ledger {
  readonly account: Account;
  readonly identities: readonly Identity[];
  /** Batches that are missing: unresolved, or acknowledged and neither exported nor parked. */
  readonly missing: number;
  /** Everything that keeps the run from being valid, in words; empty when it is. */
  readonly problems: readonly string[];
}
