import { TachographError } from '#kernel/core/errors.ts';

import { Cursor } from './cursor.ts';
import type { FaultList } from './fault-list.ts';
import { KEYWORDS, messageHeads } from './keywords.ts';
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
  cursor.skipStatementNames();
  return { kind: 'unused', offset };
}

/** Nodes have no ";": the list ends at what is no name. Some tools write names with `-`, `.` or umlauts. */
const NODE = /,|[^\s\d:;,|@"()[\]][^\s:;,|@"()[\]]{0,127}/y;
/** `BS_: 500 : 1,2`, and nothing in nearly every file. */
const BIT_TIMING = /[\d.]{1,20}|[:,]/y;

function skipList(element: RegExp): Reader {
  return (cursor, offset) => {
    cursor.symbol(':');
    cursor.skipList(element);
    return { kind: 'unused', offset };
  };
}

function skipStatement(cursor: Cursor, offset: number): Statement {
  cursor.skipToSemicolon();
  return { kind: 'unused', offset };
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['VERSION', readVersion],
  ['NS_', skipNames],
  ['BS_', skipList(BIT_TIMING)],
  ['BU_', skipList(NODE)],
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
const HEAD_WITH_FAULT = /\d{1,10}\s{1,9}\w{1,128}\s{0,9}:\s{0,9}\d{1,5}(?![\d|])/;
const INSPECTED_CHARACTERS = 2_000;

function losesMessage(keyword: string, skipped: string): boolean {
  if (keyword === 'BO_' || skipped.length >= INSPECTED_CHARACTERS) return true;
  return HEAD_WITH_FAULT.test(skipped);
}

/**
 * Messages in what was skipped with a broken statement, each a fault by its name. They are not read:
 * what stands behind a fault on its line may as well be a comment that quotes a statement.
 */
function reportSkipped(start: number, skipped: string, faults: FaultList): void {
  for (const { at, name } of messageHeads(skipped)) {
    // The broken statement itself has its fault already.
    if (at === 0) continue;
    const detail = 'it stands on a line behind something that cannot be read';
    faults.add(start + at, 'DBC_MESSAGE_INVALID', { name, detail });
  }
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
      const skipped = cursor.statementText;
      reportSkipped(offset, skipped, faults);
      if (losesMessage(keyword, skipped)) statements.push({ kind: 'lostMessage', offset });
    }
  }
  return statements;
}
