import type { Cursor } from './cursor.ts';
import { labelKey } from './labels.ts';
import type { Labels } from './model.ts';
import type {
  AttributeDefaultStatement,
  AttributeDefinitionStatement,
  AttributeStatement,
  CommentStatement,
  LabelTableStatement,
  LabelsStatement,
  MultiplexStatement,
  Target,
  UnusedStatement,
  ValueTypeStatement,
} from './statements.ts';

const MAX_RAW_ID = 0xffff_ffff;

const readId = (cursor: Cursor): number => cursor.integer('a message id', 0, MAX_RAW_ID);

/** `BO_ id`, `SG_ id signal`, `BU_ node`, `EV_ variable` or nothing (the file). */
function readTarget(cursor: Cursor): Target {
  switch (cursor.peekWord()) {
    case 'BO_':
      cursor.word('BO_');
      return { kind: 'message', rawId: readId(cursor) };
    case 'SG_':
      cursor.word('SG_');
      return { kind: 'signal', rawId: readId(cursor), signal: cursor.word('a signal name') };
    case 'BU_':
    case 'EV_':
      cursor.word('BU_ or EV_');
      cursor.word('a name');
      return { kind: 'other' };
    default:
      return { kind: 'other' };
  }
}

/** `CM_ SG_ 36 YAW_RATE "text, over several lines if need be";` */
export function readComment(cursor: Cursor, offset: number): CommentStatement {
  const target = readTarget(cursor);
  const text = cursor.text('a comment');
  cursor.semicolon();
  return { kind: 'comment', offset, target, text };
}

/** `0 "off" 1 "on"`; of two texts for one value the last holds. */
function readLabels(cursor: Cursor): Labels {
  const labels = new Map<number | bigint, string>();
  while (cursor.atNumber) {
    labels.set(labelKey(cursor.exactNumber('a value')), cursor.string("a value's text"));
  }
  return labels;
}

export function readLabelTable(cursor: Cursor, offset: number): LabelTableStatement {
  const name = cursor.word('a table name');
  const labels = readLabels(cursor);
  cursor.semicolon();
  return { kind: 'labelTable', offset, name, labels };
}

/** Of a signal, or (without an id) of an environment variable, which is of no use here. */
export function readSignalLabels(
  cursor: Cursor,
  offset: number,
): LabelsStatement | UnusedStatement {
  if (!cursor.atNumber) {
    cursor.word('a message id or the name of a variable');
    readLabels(cursor);
    cursor.semicolon();
    return { kind: 'unused', offset };
  }
  const rawId = readId(cursor);
  const signal = cursor.word('a signal name');
  const isInline = cursor.atNumber || cursor.peekWord() === '';
  const labels = isInline ? readLabels(cursor) : cursor.word('a table name');
  cursor.semicolon();
  return { kind: 'labels', offset, rawId, signal, labels };
}

const VALUE_TYPES = ['integer', 'float32', 'float64'] as const;

export function readValueType(cursor: Cursor, offset: number): ValueTypeStatement {
  const rawId = readId(cursor);
  const signal = cursor.word('a signal name');
  cursor.skip(':');
  const code = cursor.integer('a value type', 0, VALUE_TYPES.length - 1);
  cursor.semicolon();
  return { kind: 'valueType', offset, rawId, signal, valueType: VALUE_TYPES[code] ?? 'integer' };
}

export function readMultiplex(cursor: Cursor, offset: number): MultiplexStatement {
  const rawId = readId(cursor);
  const signal = cursor.word('a signal name');
  const selector = cursor.word("a selector's name");
  const ranges: [first: number, last: number][] = [];
  do {
    const first = cursor.unsigned('the first value of a range');
    cursor.symbol('-');
    ranges.push([first, cursor.unsigned('the last value of a range')]);
  } while (cursor.skip(',') || cursor.atNumber);
  cursor.semicolon();
  return { kind: 'multiplex', offset, rawId, signal, selector, ranges };
}

/** `[BU_|BO_|SG_|EV_] "name" INT 0 10;` or `HEX …`, `FLOAT …`, `STRING`, `ENUM "a","b"`. */
export function readAttributeDefinition(
  cursor: Cursor,
  offset: number,
): AttributeDefinitionStatement {
  if (!cursor.atString) cursor.word('BU_, BO_, SG_ or EV_');
  const name = cursor.string('an attribute name');
  const type = cursor.word('an attribute type');
  const choices: string[] = [];
  if (type === 'ENUM') {
    do choices.push(cursor.string('a choice'));
    while (cursor.skip(','));
    cursor.semicolon();
  } else {
    cursor.skipToSemicolon();
  }
  return { kind: 'attributeDefinition', offset, name, choices };
}

const readValue = (cursor: Cursor): number | string =>
  cursor.atString ? cursor.text('a value') : cursor.number('a value');

export function readAttributeDefault(cursor: Cursor, offset: number): AttributeDefaultStatement {
  const name = cursor.string('an attribute name');
  const value = readValue(cursor);
  cursor.semicolon();
  return { kind: 'attributeDefault', offset, name, value };
}

export function readAttribute(cursor: Cursor, offset: number): AttributeStatement {
  const name = cursor.string('an attribute name');
  const target = readTarget(cursor);
  const value = readValue(cursor);
  cursor.semicolon();
  return { kind: 'attribute', offset, name, target, value };
}
