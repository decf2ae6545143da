import { TachographError } from '#kernel/core/errors.ts';
import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import type { Database } from '#kernel/dbc/model.ts';
import type { DecoderFact } from '#kernel/facts/facts.ts';
import type { Store } from '#kernel/store/store.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';

/** DBCs of one car line have up to 0.5 MB; some merged ones a few. */
export const MAX_DBC_BYTES = 8 * 1024 * 1024;
/** Parsed databases kept in memory, the ones used last: enough for the buses of one campaign. */
const MAX_KEPT = 8;

/** The stored DBCs, parsed. */
export class DecoderLibrary {
  readonly #store: Store;
  readonly #kept = new Map<string, Database>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Stores a DBC under its SHA-256. One with faults is kept, one without any message is
   * DECODER_UNUSABLE.
   */
  async add(
    bytes: Uint8Array,
    name: string,
    nowMs: number,
  ): Promise<{ readonly sha256: string; readonly database: Database; readonly created: boolean }> {
    const database = parseDbc(bytes);
    if (database.messages.length === 0) {
      const [first] = database.faults;
      const where = first === undefined ? 'there is none' : `line ${first.line}: ${first.message}`;
      const faults = database.faults.length;
      throw new TachographError('DECODER_UNUSABLE', { name, faults, first: where });
    }
    const sha256 = sha256Hex(bytes);
    const fact: DecoderFact = { sha256, name, bytes, createdAtMs: nowMs };
    // The same file under another name is the same decoder.
    const { outcome } = await this.#store.insert('decoders', sha256, fact, sha256);
    this.#keep(sha256, database);
    return { sha256, database, created: outcome === 'created' };
  }

  async fact(sha256: string): Promise<DecoderFact | undefined> {
    const document = await this.#store.get('decoders', sha256);
    return document as unknown as DecoderFact | undefined;
  }

  /** The databases of those buses whose DBC is stored. */
  async databases(
    decoders: Readonly<Record<string, string>>,
  ): Promise<ReadonlyMap<string, Database>> {
    const databases = new Map<string, Database>();
    for (const [bus, sha256] of Object.entries(decoders)) {
      const database = this.#kept.get(sha256) ?? (await this.#read(sha256));
      if (database === undefined) continue;
      this.#keep(sha256, database);
      databases.set(bus, database);
    }
    return databases;
  }

  async #read(sha256: string): Promise<Database | undefined> {
    const fact = await this.fact(sha256);
    return fact === undefined ? undefined : parseDbc(fact.bytes);
  }

  #keep(sha256: string, database: Database): void {
    this.#kept.delete(sha256);
    this.#kept.set(sha256, database);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}
