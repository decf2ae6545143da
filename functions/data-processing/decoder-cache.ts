import { type DatabaseDecoder, compileDatabase } from '#kernel/dbc/message-decoder.ts';
import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import { must } from '#kernel/core/assert.ts';
import type { DecoderFact } from '#kernel/facts/facts.ts';
import type { Store } from '#kernel/store/store.ts';

/** Compiled DBCs kept: a campaign has one a bus, and a replica serves a few campaigns at a time. */
export const MAX_DECODERS = 16;

/**
 * Compiled decoders by the SHA-256 of their DBC, the least recently used dropped first. A hash names its
 * content, so an entry never goes stale.
 */
export class DecoderCache {
  /** In the order of use, the oldest first. */
  readonly #decoders = new Map<string, DatabaseDecoder>();

  get size(): number {
    return this.#decoders.size;
  }

  /** Undefined when there is no such DBC in the store. */
  async find(sha256: string, store: Store): Promise<DatabaseDecoder | undefined> {
    const known = this.#decoders.get(sha256);
    if (known !== undefined) {
      this.#decoders.delete(sha256);
      this.#decoders.set(sha256, known);
      return known;
    }
    const fact = (await store.get('decoders', sha256)) as DecoderFact | undefined;
    if (fact === undefined) return undefined;
    const decoder = compileDatabase(parseDbc(fact.bytes));
    this.#decoders.set(sha256, decoder);
    if (this.#decoders.size > MAX_DECODERS) {
      this.#decoders.delete(must(this.#decoders.keys().next().value, 'oldest decoder'));
    }
    return decoder;
  }
}
