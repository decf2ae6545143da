import { readFileSync } from 'node:fs';
import { unreachable } from '../core/assert.ts';
import { HOLD, KINDS, PLACES } from './demand-grammar.ts';
import { MAX_DEMANDS, MAX_TEXT_LENGTH } from './demand-limits.ts';
import { cutOutside, refuse, splitAt, type Piece } from './demand-text.ts';
import type { Demand, DemandKind, Place } from './demand.ts';
import { readAmount, readQuantity, type ReadFile } from './read-amount.ts';

/**
 * Reads demands separated by white space, each `KIND:AMOUNT@PLACE[;option]`:
 * `cpuTime:50ms@before work:lognormal(mean=50ms,cv=0.5)@instead;rate=local memory:64MiB/500ms@after`.
 * An empty text asks for nothing.
 *
 * @throws TachographError DEMAND_INVALID with the column of the fault and what is allowed there.
 */
export function parseDemands(
  text: string,
  readFile: ReadFile = (path) => readFileSync(path, 'utf8'),
): readonly Demand[] {
  if (text.length > MAX_TEXT_LENGTH) {
    refuse(MAX_TEXT_LENGTH + 1, `the text is longer than ${MAX_TEXT_LENGTH} characters`);
  }
  const pieces = cutOutside({ text, column: 1 }, /\s/).filter((piece) => piece.text !== '');
  const surplus = pieces[MAX_DEMANDS];
  if (surplus !== undefined) refuse(surplus.column, `more than ${MAX_DEMANDS} demands`);
  return pieces.map((piece) => parseOne(piece, readFile));
}

const USAGE = 'write KIND:AMOUNT@PLACE, for instance cpuTime:50ms@before';

function parseOne(piece: Piece, readFile: ReadFile): Demand {
  const [head, ...options] = cutOutside(piece, /;/);
  const [left, placePiece] = splitLast(head ?? piece, '@');
  const [kindPiece, amount] = splitAt(left, ':');
  const kind = readKind(kindPiece);
  if (amount === undefined) {
    return refuse(kindPiece.column + kindPiece.text.length, `the amount is missing; ${USAGE}`);
  }
  const place = readPlace(placePiece, piece);
  const rate = readOptions(options, kind);
  const rule = KINDS[kind];
  switch (kind) {
    case 'work':
      return { kind, ms: readAmount(amount, rule, readFile), place, rate };
    case 'cpuTime':
    case 'delay':
      return { kind, ms: readAmount(amount, rule, readFile), place };
    case 'memory': {
      const [size, hold] = splitLast(amount, '/');
      if (hold === undefined || hold.text.endsWith(')')) {
        const end = amount.column + amount.text.length;
        return refuse(end, 'how long to hold it is missing; write memory:64MiB/500ms');
      }
      const bytes = readAmount(size, rule, readFile);
      return { kind, bytes, holdMs: readQuantity(hold, HOLD), place };
    }
    case 'payload':
      return { kind, bytes: readAmount(amount, rule, readFile), place };
    default:
      return unreachable(kind);
  }
}

function splitLast(piece: Piece, separator: string): [Piece, Piece | undefined] {
  const at = piece.text.lastIndexOf(separator);
  if (at < 0) return [piece, undefined];
  return [
    { text: piece.text.slice(0, at), column: piece.column },
    { text: piece.text.slice(at + 1), column: piece.column + at + 1 },
  ];
}

function readKind({ text, column }: Piece): DemandKind {
  if (Object.hasOwn(KINDS, text)) return text as DemandKind;
  return refuse(
    column,
    `the kind "${text}" is not known; use one of ${Object.keys(KINDS).join(', ')}; ${USAGE}`,
  );
}

function readPlace(piece: Piece | undefined, demand: Piece): Place {
  const allowed = `use one of ${PLACES.map((place) => `@${place}`).join(', ')}`;
  if (piece === undefined) {
    return refuse(demand.column + demand.text.length, `the place is missing; ${allowed}`);
  }
  const place = PLACES.find((known) => known === piece.text);
  return place ?? refuse(piece.column, `the place "${piece.text}" is not known; ${allowed}`);
}

/** `work` has one option, its rate; the others have none. */
function readOptions(options: readonly Piece[], kind: DemandKind): 'reference' | 'local' {
  let rate: 'reference' | 'local' = 'reference';
  for (const { text, column } of options) {
    if (kind !== 'work') refuse(column, `the option "${text}" is not known; ${kind} has none`);
    if (text !== 'rate=local' && text !== 'rate=reference') {
      refuse(column, `the option "${text}" is not known; use rate=reference or rate=local`);
    }
    rate = text === 'rate=local' ? 'local' : 'reference';
  }
  return rate;
}
