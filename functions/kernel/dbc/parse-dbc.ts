import { TachographError } from '#kernel/core/errors.ts';

import { buildDatabase } from './build-database.ts';
import { decodeText } from './decode-text.ts';
import { FaultList } from './fault-list.ts';
import { MAX_DBC_BYTES } from './limits.ts';
import type { Database } from './model.ts';
import { readStatements } from './read-statements.ts';

/**
 * Reads a DBC file as far as it can be read. What cannot be used is left out, the least that is at
 * fault (a signal, a comment, a message), and reported in `faults` with line and column.
 *
 * Throws DBC_TOO_LARGE, DBC_TOO_MANY_MESSAGES, and DBC_TOO_BROKEN for what is no DBC file at all. An
 * empty file is an empty database.
 */
export function parseDbc(source: Uint8Array): Database {
  if (source.byteLength > MAX_DBC_BYTES) {
    const fields = { bytes: source.byteLength, maxBytes: MAX_DBC_BYTES };
    throw new TachographError('DBC_TOO_LARGE', fields);
  }
  const text = decodeText(source);
  const faults = new FaultList(text);
  return buildDatabase(readStatements(text, faults), faults);
}
