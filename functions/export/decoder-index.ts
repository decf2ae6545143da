import type { Labels } from '#kernel/dbc/model.ts';
import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import type { DecoderFact } from '#kernel/facts/facts.ts';
import type { Store } from '#kernel/store/store.ts';
import { messageKey, messageNames } from './safe-names.ts';

/** What a file says of a message beyond its stored table: its name on disk, its value labels. */
export interface MessageTraits {
  readonly fileName: string;
  /** Signal → raw value → text; signals without labels are left out. */
  readonly labels: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

export type DecoderIndex = ReadonlyMap<string, MessageTraits>;

/** As JSON can have them: every raw value in full, since its keys are texts. */
const labelTexts = (labels: Labels): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from(labels, ([value, text]) => [String(value), text]));

function indexDecoder(bytes: Uint8Array): DecoderIndex {
  const { messages } = parseDbc(bytes);
  const names = messageNames(messages);
  return new Map(
    messages.map((message) => {
      const key = messageKey(message);
      const labels = message.signals
        .filter((signal) => signal.labels.size > 0)
        .map((signal) => [signal.name, labelTexts(signal.labels)] as const);
      return [key, { fileName: names.get(key) ?? key, labels: new Map(labels) }];
    }),
  );
}

const MAX_DECODERS = 8;

/** The DBCs used lately, by hash; the one not used for longest goes first. */
export class DecoderIndexes {
  readonly #indexes = new Map<string, DecoderIndex>();

  /** undefined: the store has no DBC of this hash. */
  async get(store: Store, sha256: string): Promise<DecoderIndex | undefined> {
    let index = this.#indexes.get(sha256);
    if (index === undefined) {
      const fact = (await store.get('decoders', sha256)) as DecoderFact | undefined;
      if (fact === undefined) return undefined;
      index = indexDecoder(fact.bytes);
    }
    this.#indexes.delete(sha256);
    this.#indexes.set(sha256, index);
    for (const oldest of this.#indexes.keys()) {
      if (this.#indexes.size <= MAX_DECODERS) break;
      this.#indexes.delete(oldest);
    }
    return index;
  }

  get size(): number {
    return this.#indexes.size;
  }
}
