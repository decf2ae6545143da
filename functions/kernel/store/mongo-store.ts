import {
  BSON,
  type Collection as MongoCollection,
  type Db,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoServerError,
  ReadConcern,
} from 'mongodb';
import { TachographError } from '../core/errors.ts';
import { prefixEnd } from '../core/ids.ts';
import { sha256Hex } from '../system/sha256.ts';
import { bsonToFact, factToBson } from './bson-fact.ts';
import { checkCollection, checkKey, checkLimit } from './check-arguments.ts';
import { documentTooLarge, encodeWithinLimit } from './fact-codec.ts';
import { redactUrl } from './redact-url.ts';
import type { Collection, Fact, Found, InsertOutcome, RangeOptions, Store } from './store.ts';

const DEFAULT_DATABASE = 'tachograph';
const DUPLICATE_KEY = 11_000;

/** MongoDB's limit of a document. */
const MAX_BSON_BYTES = 16 * 1024 * 1024;
/**
 * Below this much CBOR a document cannot reach MongoDB's limit, so that its size need not be
 * counted. Worst case: an array of empty strings, 1 byte each in CBOR; in BSON 1 (type) + 7 (index
 * as text) + 1 (NUL) + 5 (length and NUL) = 14, and 14 MiB < 16 MiB.
 */
const SURELY_SMALL_BYTES = 1024 * 1024;

/** What the port promises: no URL can weaken it. */
const DURABILITY = {
  // An insert that resolved survives the loss of any minority of the replica set.
  writeConcern: { w: 'majority', journal: true },
  // Nothing is read that could still be rolled back.
  readConcern: new ReadConcern('majority'),
  readPreference: 'primary',
} as const;

/** Bounds that an installation may set otherwise, in its URL. */
const BOUNDS = {
  serverSelectionTimeoutMS: 5_000,
  connectTimeoutMS: 5_000,
  socketTimeoutMS: 30_000,
  maxPoolSize: 20,
  waitQueueTimeoutMS: 5_000,
} as const;

function clientOptions(url: string): MongoClientOptions {
  const given = new URLSearchParams(url.split('?')[1] ?? '');
  const names = new Set([...given.keys()].map((name) => name.toLowerCase()));
  const bounds = Object.entries(BOUNDS).filter(([name]) => !names.has(name.toLowerCase()));
  const own = { appName: 'tachograph', promoteBuffers: false };
  return { ...Object.fromEntries(bounds), ...own, ...DURABILITY };
}

interface Stored {
  readonly _id: string;
  readonly hash: string;
  /** A Map when written, a plain object when read. */
  readonly document: object;
}

/** Connects to the database that `url` names (`tachograph` where it names none). */
export async function openMongoStore(url: string): Promise<Store> {
  const client = clientOf(url);
  try {
    // Set here too: the driver lets the URL's journal=false win over the client's options.
    const database = client.db(databaseName(url), DURABILITY);
    // `connect` is lazy about some failures; a store that opened has answered once.
    await database.command({ ping: 1 });
    return new MongoStore(client, database);
  } catch (error) {
    await client.close();
    throw mongoFailure(error);
  }
}

function clientOf(url: string): MongoClient {
  try {
    return new MongoClient(url, clientOptions(url));
  } catch {
    // No cause: the driver's message may quote the URL with its password.
    throw new TachographError('STORE_URL_INVALID', { value: redactUrl(url) });
  }
}

/** The driver itself would take "test" where the URL names none. */
const databaseName = (url: string): string =>
  /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1] ?? DEFAULT_DATABASE;

/**
 * A failure of driver or server as STORE_UNAVAILABLE; anything else (a bug) comes back unchanged.
 */
function mongoFailure(error: unknown): unknown {
  if (!(error instanceof MongoError)) return error;
  const detail = `${error.name}: ${redactUrl(error.message)}`;
  return new TachographError('STORE_UNAVAILABLE', { detail }, { cause: error });
}

/** The store of a cluster: MongoDB, a collection each, `{ _id, hash, document }`. */
class MongoStore implements Store {
  readonly #client: MongoClient;
  readonly #database: Db;

  constructor(client: MongoClient, database: Db) {
    this.#client = client;
    this.#database = database;
  }

  async insert(
    collection: Collection,
    id: string,
    document: Fact,
    contentHash?: string,
  ): Promise<InsertOutcome> {
    checkKey(collection, id);
    const bytes = encodeWithinLimit(collection, id, document);
    const hash = contentHash ?? sha256Hex(bytes);
    const stored: Stored = { _id: id, hash, document: factToBson(document) };
    if (bytes.length > SURELY_SMALL_BYTES) {
      const size = BSON.calculateObjectSize(stored);
      if (size > MAX_BSON_BYTES) throw documentTooLarge(collection, id, size);
    }
    try {
      await this.#collection(collection).insertOne(stored);
      return { outcome: 'created' };
    } catch (error) {
      if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) {
        return this.#existing(collection, id, hash);
      }
      throw mongoFailure(error);
    }
  }

  /**
   * The duplicate-key answer may come from a document that only the primary has yet and that a
   * fail-over would take back. `exists` is said only after a majority has it.
   */
  async #existing(collection: Collection, id: string, hash: string): Promise<InsertOutcome> {
    const found = await this.#do(() =>
      this.#collection(collection).findOne({ _id: id }, { projection: { hash: 1 } }),
    );
    if (found !== null) return { outcome: 'exists', same: found.hash === hash };
    const detail = `${collection}/${id} is not yet confirmed by a majority`;
    throw new TachographError('STORE_BUSY', { detail });
  }

  async get(collection: Collection, id: string): Promise<Fact | undefined> {
    checkKey(collection, id);
    const found = await this.#do(() => this.#collection(collection).findOne({ _id: id }));
    return found === null ? undefined : bsonToFact(found.document);
  }

  async range(
    collection: Collection,
    from: string,
    to: string,
    { limit, descending = false }: RangeOptions,
  ): Promise<readonly Found<Fact>[]> {
    checkCollection(collection);
    checkLimit(limit);
    // Strings compare by their bytes, as no collation is set.
    const rows = await this.#do(() =>
      this.#collection(collection)
        .find({ _id: { $gte: from, $lt: to } })
        .sort({ _id: descending ? -1 : 1 })
        .limit(limit)
        .toArray(),
    );
    return rows.map(({ _id, document }) => ({ id: _id, document: bsonToFact(document) }));
  }

  async removePrefix(collection: Collection, prefix: string, limit: number): Promise<number> {
    checkCollection(collection);
    checkLimit(limit);
    return this.#do(async () => {
      const ids = await this.#collection(collection)
        .find({ _id: { $gte: prefix, $lt: prefixEnd(prefix) } }, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .limit(limit)
        .map(({ _id }) => _id)
        .toArray();
      const first = ids[0];
      const last = ids.at(-1);
      if (first === undefined || last === undefined) return 0;
      const removed = await this.#collection(collection).deleteMany({
        _id: { $gte: first, $lte: last },
      });
      return removed.deletedCount;
    });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #collection(name: Collection): MongoCollection<Stored> {
    return this.#database.collection<Stored>(name);
  }

  async #do<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw mongoFailure(error);
    }
  }
}
