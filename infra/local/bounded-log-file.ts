import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

/** What a log needs of the file system. */
export interface LogFileSystem {
  /** Opens to append. */
  open(path: string): number;
  size(file: number): number;
  /** Gives how many bytes were written: a disk that is filling up takes a part. */
  write(file: number, bytes: Uint8Array): number;
  rename(from: string, to: string): void;
  close(file: number): void;
}

const systemFiles: LogFileSystem = {
  open: (path) => openSync(path, 'a', 0o600),
  size: (file) => fstatSync(file).size,
  write: (file, bytes) => writeSync(file, bytes),
  rename: renameSync,
  close: closeSync,
};

const NEWLINE = 10;

/**
 * A log file that never grows past `maxBytes`: then it is set aside as `<path>.1`, replacing the one set
 * aside before, so that at most twice the limit is on disk and the newest lines are always kept.
 *
 * Writes are synchronous: a line that was written is in the file when the process dies. Nothing here
 * throws: a log must not end what it tells about. What cannot be written (a full disk) is dropped and
 * counted; each write tries anew, and the first that works is preceded by a line with the count.
 */
export class BoundedLogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #files: LogFileSystem;
  #file: number | undefined;
  #bytes = 0;
  #closed = false;
  /** The file ends in the middle of a line that was cut off by a failure. */
  #torn = false;
  #droppedLines = 0;
  /** What was dropped last ends in the middle of a line. */
  #droppedTail = false;
  #reason = '';

  constructor(path: string, maxBytes: number, files: LogFileSystem = systemFiles) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#files = files;
    this.#attempt(() => this.#opened());
  }

  /** Lines that are missing in the file and not told in it yet. */
  get dropped(): number {
    return this.#droppedLines + (this.#droppedTail ? 1 : 0);
  }

  /** Appends; a piece larger than the limit is cut to it. Nothing is written after `close`. */
  write(piece: Uint8Array): void {
    if (this.#closed || piece.length === 0) return;
    const kept = piece.length > this.#maxBytes ? piece.subarray(0, this.#maxBytes) : piece;
    const written = this.#attempt(() => {
      this.#tellDropped();
      this.#append(kept);
    });
    if (!written) this.#drop(kept);
  }

  close(): void {
    if (this.#closed) return;
    this.#attempt(() => this.#tellDropped());
    this.#closed = true;
    this.#letGo();
  }

  /** Whether it worked. After a failure the file is opened anew: it may be another by then. */
  #attempt(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      this.#reason = (error as NodeJS.ErrnoException).code ?? String(error);
      this.#letGo();
      return false;
    }
  }

  #letGo(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    try {
      this.#files.close(file);
    } catch (error) {
      // The system may report a late write failure here; the descriptor is gone all the same.
      this.#reason = (error as NodeJS.ErrnoException).code ?? String(error);
    }
  }

  #opened(): number {
    if (this.#file !== undefined) return this.#file;
    this.#file = this.#files.open(this.#path);
    this.#bytes = this.#files.size(this.#file);
    return this.#file;
  }

  #append(piece: Uint8Array): void {
    let file = this.#opened();
    if (this.#bytes > 0 && this.#bytes + piece.length > this.#maxBytes) {
      this.#letGo();
      this.#files.rename(this.#path, `${this.#path}.1`);
      this.#torn = false;
      file = this.#opened();
    }
    for (let done = 0; done < piece.length;) {
      const count = this.#files.write(file, piece.subarray(done));
      if (count <= 0) throw new Error('nothing was written');
      done += count;
      this.#bytes += count;
      this.#torn = done < piece.length;
    }
  }

  #tellDropped(): void {
    const lines = this.dropped;
    if (lines === 0) return;
    const fields = {
      level: 'error',
      message: 'log lines were dropped',
      lines,
      reason: this.#reason,
    };
    const line = Buffer.from(`${this.#torn ? '\n' : ''}${JSON.stringify(fields)}\n`);
    this.#append(line.subarray(0, this.#maxBytes));
    this.#droppedLines = 0;
    this.#droppedTail = false;
  }

  #drop(piece: Uint8Array): void {
    for (const byte of piece) if (byte === NEWLINE) this.#droppedLines += 1;
    this.#droppedTail = piece.at(-1) !== NEWLINE;
  }
}
