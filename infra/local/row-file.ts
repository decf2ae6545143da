import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/** What a row file needs of the file system. */
export interface RowFileSystem {
  open(path: string): number;
  write(file: number, bytes: Uint8Array): number;
  truncate(file: number, bytes: number): void;
  close(file: number): void;
}

const systemFiles: RowFileSystem = {
  open: (path) => openSync(path, 'w', 0o600),
  write: (file, bytes) => writeSync(file, bytes),
  truncate: ftruncateSync,
  close: closeSync,
};

/**
 * Rows of a run as NDJSON, in order and complete up to a limit. Unlike a log it keeps the beginning: an
 * account that misses its first rows cannot be replayed.
 *
 * A row is in the file when `write` returns. Rows beyond the limit, and rows that cannot be written, are
 * counted; after the first of them nothing more is written, so that the file has no hole.
 */
export class RowFile {
  readonly path: string;
  readonly #maxBytes: number;
  readonly #files: RowFileSystem;
  #file: number | undefined;
  #bytes = 0;
  #dropped = 0;
  #reason: string | undefined;

  /** Throws when the file cannot be made: then there is no run to account for yet. */
  constructor(path: string, maxBytes: number, files: RowFileSystem = systemFiles) {
    this.path = path;
    this.#maxBytes = maxBytes;
    this.#files = files;
    this.#file = files.open(path);
  }

  /** Rows that are missing at the end. */
  get dropped(): number {
    return this.#dropped;
  }

  /** In the file. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Why; undefined while none is missing. */
  get reason(): string | undefined {
    return this.#reason;
  }

  write(row: unknown): void {
    this.writeLine(JSON.stringify(row));
  }

  /** A row that is text already, without line breaks. Says whether it is in the file. */
  writeLine(text: string): boolean {
    if (this.#file === undefined || this.#reason !== undefined) {
      this.#dropped += 1;
      return false;
    }
    const line = Buffer.from(`${text}\n`);
    if (this.#bytes + line.length > this.#maxBytes) {
      this.#reason = `the file has reached ${this.#maxBytes} bytes`;
      this.#dropped += 1;
      return false;
    }
    try {
      for (let done = 0; done < line.length;) {
        done += this.#files.write(this.#file, line.subarray(done));
      }
      this.#bytes += line.length;
      return true;
    } catch (error) {
      this.#reason = (error as NodeJS.ErrnoException).code ?? String(error);
      this.#dropped += 1;
      this.#cutOff(this.#file);
      return false;
    }
  }

  /** A disk that fills up takes a part of a row: half a row would make the file unreadable. */
  #cutOff(file: number): void {
    try {
      this.#files.truncate(file, this.#bytes);
    } catch (error) {
      this.#reason = `${this.#reason ?? ''}, and half a row is left: ${String(error)}`;
    }
  }

  close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) this.#files.close(file);
  }
}
