/** Where facts live. Append-only: a document is written once under its id and never updated. */

/** What a fact may contain: JSON's values, integers up to 2^53, bytes. `undefined` members are left out. */
export type FactValue =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly FactValue[]
  | { readonly [key: string]: FactValue | undefined };

export type Fact = { readonly [key: string]: FactValue | undefined };

export interface Found<T> {
  readonly id: string;
  readonly document: T;
}

export type InsertOutcome =
  | { readonly outcome: 'created' }
  /** `same`: the document already there has the same content hash. */
  | { readonly outcome: 'exists'; readonly same: boolean };

export interface RangeOptions {
  /** At most this many, 1 to 10,000. */
  readonly limit: number;
  readonly descending?: boolean;
}

export const COLLECTIONS = [
  'audit',
  'batches',
  'bindings',
  'campaigns',
  'checkins',
  'credentials',
  'decoders',
  'exports',
  'files',
  'parked',
  'payloads',
  'quarantine',
  'receipts',
  'results',
  'sessions',
  'windows',
] as const;

export type Collection = (typeof COLLECTIONS)[number];

/**
 * The port. Every method rejects with STORE_BUSY or STORE_UNAVAILABLE (kind `retry`) when it could not
 * do its work; an insert that resolved is durable (survives the crash of process and machine).
 */
export interface Store {
  /**
   * Writes a document once. `contentHash` is what makes two documents the same; by default the SHA-256
   * of the document's canonical CBOR. Give one where a document carries circumstances (a receive time).
   */
  insert(
    collection: Collection,
    id: string,
    document: Fact,
    contentHash?: string,
  ): Promise<InsertOutcome>;
  get(collection: Collection, id: string): Promise<Fact | undefined>;
  /** Documents with from <= id < to, in the byte order of ids. */
  range(
    collection: Collection,
    from: string,
    to: string,
    options: RangeOptions,
  ): Promise<readonly Found<Fact>[]>;
  /** For retention and privacy: removes up to `limit` documents whose id starts with `prefix`; how many went. */
  removePrefix(collection: Collection, prefix: string, limit: number): Promise<number>;
  close(): Promise<void>;
}
