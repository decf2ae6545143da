import type { DatabaseSync } from 'node:sqlite';
import { TachographError } from '../core/errors.ts';
import { COLLECTIONS } from './store.ts';

/** `PRAGMA user_version` of the files that this program writes. */
export const SCHEMA_VERSION = 1;

/**
 * Makes the connection durable and the tables present; may be repeated, by many processes at once.
 *
 * WAL lets readers and one writer work side by side; FULL syncs the log at every commit, so that a
 * commit survives a power cut (NORMAL would lose the last ones).
 */
export function prepareDatabase(database: DatabaseSync, path: string): void {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const version = database.prepare('PRAGMA user_version').get()?.['user_version'] as number;
  if (version === SCHEMA_VERSION && hasAllTables(database)) return;
  if (version !== 0 && version !== SCHEMA_VERSION) {
    throw new TachographError('STORE_VERSION_UNKNOWN', {
      path,
      version,
      expected: SCHEMA_VERSION,
    });
  }
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const collection of COLLECTIONS) database.exec(tableOf(collection));
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/**
 * A file may be older than a collection. More tables are no other version: programs that do not
 * know them work on.
 */
function hasAllTables(database: DatabaseSync): boolean {
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = new Set(rows.map(({ name }) => name));
  return COLLECTIONS.every((collection) => names.has(collection));
}

/**
 * A table a collection: its keys need no collection name, and a range stays within few pages.
 *
 * An ordinary rowid table with an index on the id, not WITHOUT ROWID: documents are often larger
 * than a page, and in a WITHOUT ROWID table they would sit in the index itself, which then fits
 * only a few ids a page and makes the look-up of a duplicate slow.
 */
const tableOf = (collection: string): string =>
  `CREATE TABLE IF NOT EXISTS "${collection}" (
     id TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL, document BLOB NOT NULL
   ) STRICT`;
