import { prefixEnd } from '../core/ids.ts';
import { sha256Hex } from '../system/sha256.ts';
import { checkCollection, checkKey, checkLimit } from './check-arguments.ts';
import { decodeFact, encodeWithinLimit } from './fact-codec.ts';
import { COLLECTIONS, type Collection, type Store } from './store.ts';

interface Row {
  readonly hash: string;
  readonly bytes: Uint8Array;
}

interface Table {
  readonly rows: Map<string, Row>;
  /** Ids in byte order. */
  ids: string[];
}

/**
 * A store for unit tests. Documents are kept as bytes, so that what comes out is what the durable
 * adapters give: no `undefined`, no shared objects. Nothing survives the process.
 */
export function memoryStore(): Store {
  const tables = new Map<Collection, Table>(
    COLLECTIONS.map((collection) => [collection, { rows: new Map(), ids: [] }]),
  );
  const table = (collection: Collection): Table => {
    checkCollection(collection);
    return tables.get(collection) as Table;
  };
  return {
    insert: async (collection, id, document, contentHash) => {
      checkKey(collection, id);
      const { rows, ids } = table(collection);
      const bytes = encodeWithinLimit(collection, id, document);
      const hash = contentHash ?? sha256Hex(bytes);
      const found = rows.get(id);
      if (found !== undefined) return { outcome: 'exists', same: found.hash === hash };
      rows.set(id, { hash, bytes });
      ids.splice(lowerBound(ids, id), 0, id);
      return { outcome: 'created' };
    },
    get: async (collection, id) => {
      checkKey(collection, id);
      const row = table(collection).rows.get(id);
      return row === undefined ? undefined : decodeFact(row.bytes);
    },
    range: async (collection, from, to, { limit, descending = false }) => {
      checkLimit(limit);
      const { rows, ids } = table(collection);
      const span = ids.slice(lowerBound(ids, from), lowerBound(ids, to));
      const chosen = descending ? span.reverse().slice(0, limit) : span.slice(0, limit);
      return chosen.map((id) => ({ id, document: decodeFact((rows.get(id) as Row).bytes) }));
    },
    removePrefix: async (collection, prefix, limit) => {
      checkLimit(limit);
      const { rows, ids } = table(collection);
      const first = lowerBound(ids, prefix);
      const end = Math.min(lowerBound(ids, prefixEnd(prefix)), first + limit);
      for (const id of ids.splice(first, end - first)) rows.delete(id);
      return Math.max(0, end - first);
    },
    close: async () => {},
  };
}

/**
 * Index of the first id that is not below `bound`, by UTF-8 bytes (UTF-16 order differs above
 * U+FFFF).
 */
function lowerBound(ids: readonly string[], bound: string): number {
  const wanted = Buffer.from(bound);
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Buffer.compare(Buffer.from(ids[middle] as string), wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
