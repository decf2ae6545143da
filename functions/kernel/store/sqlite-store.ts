import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Clock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import { prefixEnd } from '../core/ids.ts';
import { sha256Hex } from '../system/sha256.ts';
import { checkCollection, checkKey, checkLimit } from './check-arguments.ts';
import { decodeFact, encodeWithinLimit } from './fact-codec.ts';
import { isSqliteBusy, sqliteFailure } from './sqlite-errors.ts';
import { prepareDatabase } from './sqlite-schema.ts';
import type { Collection, Fact, Found, InsertOutcome, RangeOptions, Store } from './store.ts';

/** How long an operation waits for another process's lock before it rejects with STORE_BUSY. */
export const BUSY_WAIT_MS = 50;
/** The same at opening, where up to eight processes may create the tables at once. */
const OPEN_WAIT_MS = 5_000;
/** Asked again this often: one attempt costs some 20 µs, and SQLite keeps no queue of waiters. */
const BUSY_POLL_MS = 1;

/** Inserts that wait in this process: more are refused with STORE_BUSY. */
export const MAX_WAITING_INSERTS = 4_096;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** Inserts that share one commit, and thus one sync of the disk. */
const MAX_GROUP_INSERTS = 256;

interface WaitingInsert {
  readonly collection: Collection;
  readonly id: string;
  readonly hash: string;
  readonly bytes: Uint8Array;
  readonly resolve: (outcome: InsertOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens (and creates, with its folder) the database file at `path`. */
export async function openSqliteStore(path: string, clock: Clock): Promise<Store> {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true });
    // No waiting inside SQLite (timeout 0): that would block the whole process. See whenFree.
    const opened = new DatabaseSync(path, { timeout: 0 });
    database = opened;
    await whenFree(clock, OPEN_WAIT_MS, () => prepareDatabase(opened, path));
    return new SqliteStore(opened, path, clock);
  } catch (error) {
    database?.close();
    throw openFailure(error, path);
  }
}

function openFailure(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== 'mkdir') return sqliteFailure(error, path);
  const detail = `the folder of ${path} cannot be made (${code})`;
  return new TachographError('STORE_UNAVAILABLE', { detail }, { cause: error });
}

/**
 * Does `work` as soon as no other process is in the way; SQLite's error when none of `waitMs` was
 * free.
 */
async function whenFree<T>(clock: Clock, waitMs: number, work: () => T): Promise<T> {
  const untilMs = clock.monotonicMs() + waitMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isSqliteBusy(error) || clock.monotonicMs() >= untilMs) throw error;
    }
    await clock.sleep(BUSY_POLL_MS);
  }
}

/**
 * The embedded store: one SQLite file, shared by all processes of a machine.
 *
 * Inserts that arrive in the same turn of the event loop share one transaction: the sync of the
 * disk is what an insert costs, and a group pays for it once.
 */
export class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #clock: Clock;
  /** At most five a collection. */
  readonly #statements = new Map<string, StatementSync>();
  #waiting: WaitingInsert[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;

  constructor(database: DatabaseSync, path: string, clock: Clock) {
    this.#database = database;
    this.#path = path;
    this.#clock = clock;
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
    if (
      this.#waiting.length >= MAX_WAITING_INSERTS ||
      this.#waitingBytes + bytes.length > MAX_WAITING_BYTES
    ) {
      const detail = `${this.#waiting.length} inserts are waiting in this process`;
      throw new TachographError('STORE_BUSY', { detail });
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ collection, id, hash, bytes, resolve, reject });
      this.#waitingBytes += bytes.length;
      this.#writing ??= this.#writeWaiting();
    });
  }

  async get(collection: Collection, id: string): Promise<Fact | undefined> {
    checkKey(collection, id);
    const row = await this.#do(() =>
      this.#statement(`SELECT document FROM "${collection}" WHERE id = ?`).get(id),
    );
    return row === undefined ? undefined : decodeFact(row['document'] as Uint8Array);
  }

  async range(
    collection: Collection,
    from: string,
    to: string,
    options: RangeOptions,
  ): Promise<readonly Found<Fact>[]> {
    checkCollection(collection);
    checkLimit(options.limit);
    const order = options.descending === true ? 'DESC' : 'ASC';
    const rows = await this.#do(() =>
      this.#statement(
        `SELECT id, document FROM "${collection}" WHERE id >= ? AND id < ? ORDER BY id ${order} LIMIT ?`,
      ).all(from, to, options.limit),
    );
    return rows.map((row) => ({
      id: row['id'] as string,
      document: decodeFact(row['document'] as Uint8Array),
    }));
  }

  async removePrefix(collection: Collection, prefix: string, limit: number): Promise<number> {
    checkCollection(collection);
    checkLimit(limit);
    const result = await this.#do(() =>
      this.#statement(
        `DELETE FROM "${collection}" WHERE rowid IN (
           SELECT rowid FROM "${collection}" WHERE id >= ? AND id < ? ORDER BY id LIMIT ?)`,
      ).run(prefix, prefixEnd(prefix), limit),
    );
    return Number(result.changes);
  }

  async close(): Promise<void> {
    await this.#writing;
    if (this.#database.isOpen) this.#database.close();
  }

  /** Empties the queue group by group. Ends when nothing waits; the next insert starts it again. */
  async #writeWaiting(): Promise<void> {
    // One turn of the event loop, so that the other requests read in this turn can join the group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, MAX_GROUP_INSERTS);
      this.#waitingBytes -= group.reduce((sum, { bytes }) => sum + bytes.length, 0);
      try {
        const outcomes = await this.#do(() => this.#writeGroup(group));
        group.forEach((insert, index) => insert.resolve(outcomes[index] as InsertOutcome));
      } catch (error) {
        for (const insert of group) insert.reject(error);
      }
    }
    this.#writing = undefined;
  }

  /** One transaction: all of the group is durable when this returns, none of it when it throws. */
  #writeGroup(group: readonly WaitingInsert[]): InsertOutcome[] {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const outcomes = group.map((insert) => this.#write(insert));
      this.#database.exec('COMMIT');
      return outcomes;
    } catch (error) {
      // SQLite has rolled back by itself after a full disk or an I/O error.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #write({ collection, id, hash, bytes }: WaitingInsert): InsertOutcome {
    const written = this.#statement(
      `INSERT INTO "${collection}" (id, hash, document) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
    ).run(id, hash, bytes);
    if (written.changes === 1) return { outcome: 'created' };
    const found = this.#statement(`SELECT hash FROM "${collection}" WHERE id = ?`).get(id);
    return { outcome: 'exists', same: found?.['hash'] === hash };
  }

  async #do<T>(work: () => T): Promise<T> {
    try {
      return await whenFree(this.#clock, BUSY_WAIT_MS, work);
    } catch (error) {
      throw sqliteFailure(error, this.#path);
    }
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
