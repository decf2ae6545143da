import { TachographError } from '../core/errors.ts';

/** A piece of a demand's text with the column it begins at, counted from 1. */
export interface Piece {
  readonly text: string;
  readonly column: number;
}

/** @throws TachographError DEMAND_INVALID */
export function refuse(column: number, detail: string): never {
  throw new TachographError('DEMAND_INVALID', { column, detail });
}

/** Cuts at a separator outside of parentheses; the separators are left out. */
export function cutOutside(piece: Piece, separator: RegExp): Piece[] {
  const pieces: Piece[] = [];
  let depth = 0;
  let start = 0;
  const push = (end: number): void => {
    pieces.push({ text: piece.text.slice(start, end), column: piece.column + start });
  };
  for (let index = 0; index < piece.text.length; index++) {
    const char = piece.text.charAt(index);
    if (char === '(') depth++;
    if (char === ')') depth--;
    if (depth < 0 || depth > 1) refuse(piece.column + index, `"${char}" has no partner`);
    if (depth === 0 && separator.test(char)) {
      push(index);
      start = index + 1;
    }
  }
  if (depth > 0) refuse(piece.column + piece.text.lastIndexOf('('), '"(" has no partner');
  push(piece.text.length);
  return pieces;
}

/** The two sides of the first separator; the second one undefined where there is none. */
export function splitAt(piece: Piece, separator: string): [Piece, Piece | undefined] {
  const at = piece.text.indexOf(separator);
  if (at < 0) return [piece, undefined];
  return [
    { text: piece.text.slice(0, at), column: piece.column },
    { text: piece.text.slice(at + 1), column: piece.column + at + 1 },
  ];
}

/** Without white space around it. */
export function trimmed(piece: Piece): Piece {
  const text = piece.text.trimStart();
  return { text: text.trimEnd(), column: piece.column + piece.text.length - text.length };
}
