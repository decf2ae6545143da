import type { ErrorCode } from '#kernel/core/errors.ts';
import { TachographError } from '#kernel/core/errors.ts';

import { MAX_LISTED_FAULTS } from './limits.ts';
import type { DbcFault } from './model.ts';

interface PlacedFault {
  readonly offset: number;
  readonly message: string;
}

/** The faults of one file, gathered by offset and told by line and column. */
export class FaultList {
  readonly #text: string;
  readonly #placed: PlacedFault[] = [];
  #unlisted = 0;

  constructor(text: string) {
    this.#text = text;
  }

  add(offset: number, code: ErrorCode, fields: Readonly<Record<string, string | number>>): void {
    if (this.#placed.length >= MAX_LISTED_FAULTS) this.#unlisted++;
    else this.#placed.push({ offset, message: new TachographError(code, fields).message });
  }

  /** In the order of the file; when there were too many, the last one says how many more. */
  list(): DbcFault[] {
    const placed = this.#placed.toSorted((a, b) => a.offset - b.offset);
    if (this.#unlisted > 0) {
      const { message } = new TachographError('DBC_FAULTS_UNLISTED', {
        unlisted: this.#unlisted,
        max: MAX_LISTED_FAULTS,
      });
      placed.push({ offset: this.#text.length, message });
    }
    const lineStarts = findLineStarts(this.#text);
    let line = 0;
    return placed.map(({ offset, message }) => {
      while (line + 1 < lineStarts.length && (lineStarts[line + 1] ?? 0) <= offset) line++;
      return { line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1, message };
    });
  }
}

/** Lines end with LF, CR LF or CR. */
function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 10 || (code === 13 && text.charCodeAt(index + 1) !== 10)) starts.push(index + 1);
  }
  return starts;
}
