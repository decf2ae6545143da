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
    return placed.map(locator(this.#text));
  }
}

/**
 * Turns offsets, asked for in ascending order, into lines and columns in one walk over the text. Lines
 * end with LF, CR LF or CR.
 */
function locator(text: string): (fault: PlacedFault) => DbcFault {
  let line = 1;
  let lineStart = 0;
  let at = 0;
  return ({ offset, message }) => {
    for (; at < offset; at++) {
      const code = text.charCodeAt(at);
      if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) {
        line++;
        lineStart = at + 1;
      }
    }
    return { line, column: offset - lineStart + 1, message };
  };
}
