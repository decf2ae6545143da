import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

/**
 * A log file that never grows past `maxBytes`: then it is set aside as `<path>.1`, replacing the one set
 * aside before, so that at most twice the limit is on disk and the newest lines are always kept.
 *
 * Writes are synchronous: a line that was written is in the file when the process dies.
 */
export class BoundedLogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #file: number | undefined;
  #bytes: number;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#file = openSync(path, 'a', 0o600);
    this.#bytes = fstatSync(this.#file).size;
  }

  /** Appends; a piece larger than the limit is cut to it. Nothing is written after `close`. */
  write(piece: Uint8Array): void {
    if (this.#file === undefined) return;
    const kept = piece.length > this.#maxBytes ? piece.subarray(0, this.#maxBytes) : piece;
    if (this.#bytes > 0 && this.#bytes + kept.length > this.#maxBytes) {
      closeSync(this.#file);
      renameSync(this.#path, `${this.#path}.1`);
      this.#file = openSync(this.#path, 'a', 0o600);
      this.#bytes = 0;
    }
    writeSync(this.#file, kept);
    this.#bytes += kept.length;
  }

  close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
  }
}
