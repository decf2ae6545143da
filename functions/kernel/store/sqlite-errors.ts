import { TachographError } from '../core/errors.ts';

/**
 * Primary result codes (https://www.sqlite.org/rescode.html); the extended ones add bits above 8.
 */
const BUSY = 5;
const LOCKED = 6;
const MEANING: Readonly<Record<number, string>> = {
  8: 'it may not be written; check the permissions of the file and its folder',
  10: 'reading or writing failed (I/O error); check the disk',
  11: 'the file is damaged; restore it from a copy',
  13: 'the disk is full; free some space',
  14: 'the file cannot be opened; check that its folder exists and may be written',
  26: 'the file is not an SQLite database; give another path',
};

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { errcode } = error as Error & { errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** Another process or connection holds the lock: trying again soon may work. */
export function isSqliteBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

/**
 * An SQLite failure as an expected error; anything else (a bug in a statement) comes back
 * unchanged.
 */
export function sqliteFailure(error: unknown, path: string): unknown {
  if (isSqliteBusy(error)) {
    const detail = `another process is writing to ${path}`;
    return new TachographError('STORE_BUSY', { detail }, { cause: error });
  }
  const closed = error instanceof Error && (error as NodeJS.ErrnoException).code;
  const meaning =
    closed === 'ERR_INVALID_STATE' ? 'it is closed' : MEANING[resultCode(error) ?? -1];
  if (meaning === undefined) return error;
  return new TachographError(
    'STORE_UNAVAILABLE',
    { detail: `${path}: ${meaning}` },
    { cause: error },
  );
}
