import type { Cursor } from './cursor.ts';
import type { MessageStatement, SignalStatement } from './statements.ts';

const MAX_RAW_ID = 0xffff_ffff;

/** `BO_ 2566834709 EngineData: 8 Gateway` behind its keyword. */
export function readMessage(cursor: Cursor, offset: number): MessageStatement {
  const rawId = cursor.integer('a message id', 0, MAX_RAW_ID);
  const name = cursor.word('a message name');
  cursor.symbol(':');
  const byteLength = cursor.integer('a length in bytes', 0, Number.MAX_SAFE_INTEGER);
  const transmitter = cursor.wordOnLine();
  return { kind: 'message', offset, rawId, name, byteLength, transmitter };
}

/** `SG_ Speed m3 : 7|16@0+ (0.01,0) [0|250] "km/h" ABS,ESP` behind its keyword. */
export function readSignal(cursor: Cursor, offset: number): SignalStatement {
  const name = cursor.word('a signal name');
  const role = readRole(cursor);
  cursor.symbol(':');
  const startBit = cursor.integer('a start bit', 0, Number.MAX_SAFE_INTEGER);
  cursor.symbol('|');
  const bitLength = cursor.integer('a length in bits', 0, Number.MAX_SAFE_INTEGER);
  cursor.symbol('@');
  const byteOrder = cursor.integer('a byte order', 0, 1) === 1 ? 'intel' : 'motorola';
  const signed = !cursor.skip('+');
  if (signed) cursor.symbol('-');
  const scale = (expected: string): number => cursor.scale(expected);
  const [factor, addend] = readPair(cursor, ['(', ',', ')'], ['a factor', 'an offset'], scale);
  const limit = (expected: string): number => cursor.number(expected);
  const [min, max] = readPair(cursor, ['[', '|', ']'], ['a minimum', 'a maximum'], limit);
  const unit = cursor.string('a unit');
  // Receivers, which a decoder does not need.
  cursor.skipListOnLine();
  return {
    kind: 'signal',
    offset,
    name,
    ...role,
    startBit,
    bitLength,
    byteOrder,
    signed,
    factor,
    addend,
    min,
    max,
    unit,
  };
}

type Role = Pick<SignalStatement, 'isSelector' | 'page'>;

/** Nothing, `M` (selector), `m3` (on page 3) or `m3M` (on page 3 and itself a selector). */
function readRole(cursor: Cursor): Role {
  const word = cursor.peekWord();
  if (word === '') return { isSelector: false, page: undefined };
  const match = /^(?:m(\d{1,15}))?(M?)$/.exec(word);
  const expected = '":", M, m<number> or m<number>M';
  if (match === null) cursor.fail(expected);
  cursor.word(expected);
  return {
    isSelector: match[2] === 'M',
    page: match[1] === undefined ? undefined : Number(match[1]),
  };
}

function readPair(
  cursor: Cursor,
  [open, middle, close]: readonly [string, string, string],
  [first, second]: readonly [string, string],
  read: (expected: string) => number,
): readonly [number, number] {
  cursor.symbol(open);
  const left = read(first);
  cursor.symbol(middle);
  const right = read(second);
  cursor.symbol(close);
  return [left, right];
}
