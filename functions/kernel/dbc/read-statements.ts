import { TachographError } from '#kernel/core/errors.ts';

import { Cursor } from './cursor.ts';
import type { FaultList } from './fault-list.ts';
import { KEYWORDS } from './keywords.ts';
import { MAX_BROKEN_STATEMENTS } from './limits.ts';
import {
  readAttribute,
  readAttributeDefault,
  readAttributeDefinition,
  readComment,
  readLabelTable,
  readMultiplex,
  readSignalLabels,
  readValueType,
} from './read-annotation.ts';
import { readMessage, readSignal } from './read-message.ts';
import type { Statement } from './statements.ts';

type Reader = (cursor: Cursor, offset: number) => Statement;

function readVersion(cursor: Cursor, offset: number): Statement {
  return { kind: 'version', offset, version: cursor.string('a version') };
}

function skipNames(cursor: Cursor, offset: number): Statement {
  cursor.symbol(':');
  cursor.skipNameLines();
  return { kind: 'unused', offset };
}

/** Nodes and bit timing end where the next statement begins. */
function skipOpenStatement(cursor: Cursor, offset: number): Statement {
  cursor.symbol(':');
  cursor.skipToStatement();
  return { kind: 'unused', offset };
}

function skipStatement(cursor: Cursor, offset: number): Statement {
  cursor.skipToSemicolon();
  return { kind: 'unused', offset };
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['VERSION', readVersion],
  ['NS_', skipNames],
  ['BS_', skipOpenStatement],
  ['BU_', skipOpenStatement],
  ['BO_', readMessage],
  ['SG_', readSignal],
  ['CM_', readComment],
  ['VAL_', readSignalLabels],
  ['VAL_TABLE_', readLabelTable],
  ['SIG_VALTYPE_', readValueType],
  ['SG_MUL_VAL_', readMultiplex],
  ['BA_DEF_', readAttributeDefinition],
  ['BA_DEF_DEF_', readAttributeDefault],
  ['BA_', readAttribute],
]);

function readStatement(cursor: Cursor, keyword: string): Statement {
  const { offset } = cursor;
  if (!KEYWORDS.has(keyword)) {
    throw new TachographError('DBC_STATEMENT_UNKNOWN', { offset, word: cursor.found });
  }
  cursor.word('a statement');
  return (READERS.get(keyword) ?? skipStatement)(cursor, offset);
}

/**
 * Something like `36 Name: 8` in what was skipped may be the head of a message with a fault; signals
 * that follow must not fall to the message before it.
 */
const MESSAGE_HEAD = /\d{1,10}\s{1,9}\w{1,128}\s{0,9}:\s{0,9}\d{1,5}(?![\d|])/;
const INSPECTED_CHARACTERS = 2_000;

function losesMessage(keyword: string, skipped: string): boolean {
  return keyword === 'BO_' || skipped.length >= INSPECTED_CHARACTERS || MESSAGE_HEAD.test(skipped);
}

/**
 * Every statement that can be read. A broken one is reported at the element that does not fit, and
 * reading goes on at the next line that starts a statement.
 *
 * Throws DBC_TOO_BROKEN behind MAX_BROKEN_STATEMENTS: then it is no DBC file.
 */
export function readStatements(text: string, faults: FaultList): Statement[] {
  const cursor = new Cursor(text, faults);
  const statements: Statement[] = [];
  let broken = 0;
  while (!cursor.atEnd) {
    cursor.startStatement();
    const keyword = cursor.peekWord();
    try {
      statements.push(readStatement(cursor, keyword));
    } catch (error) {
      if (!(error instanceof TachographError)) throw error;
      faults.add(Number(error.fields['offset']), error.code, error.fields);
      broken++;
      if (broken > MAX_BROKEN_STATEMENTS) {
        throw new TachographError('DBC_TOO_BROKEN', { max: MAX_BROKEN_STATEMENTS });
      }
      const offset = cursor.resume();
      const skipped = cursor.statementText(INSPECTED_CHARACTERS);
      if (losesMessage(keyword, skipped)) statements.push({ kind: 'lostMessage', offset });
    }
  }
  return statements;
}
