import type { CanFrame } from './can-frame.ts';
import { parseCandumpLine } from './parse-candump-line.ts';

/**
 * Longer lines are reported and skipped; an FD frame on screen with its text takes about 350
 * characters.
 */
export const MAX_LINE_LENGTH = 1_024;
/** The first so many faults are kept, all are counted. */
export const MAX_KEPT_FAULTS = 100;

export interface CanLogFault {
  /** Counted from 1. */
  readonly line: number;
  readonly reason: string;
}

export interface CanLogOptions {
  /**
   * What the time stamps of screen lines mean: `asWritten` for absolute times and times since the
   * start (candump -ta, -tA, -tz), `delta` for times since the line before (-td), which are summed
   * up.
   */
  readonly screenTime?: 'asWritten' | 'delta';
}

/**
 * The frames of a log, streamed once, and beside them what could not be read. A bad line is a fault
 * with its number and costs only itself. A last line without a line end is torn: it is reported and
 * never used, since half a payload looks like a whole, shorter one.
 */
export class CanLogReader implements AsyncIterable<CanFrame> {
  readonly #chunks: AsyncIterable<Uint8Array>;
  readonly #delta: boolean;
  readonly #faults: CanLogFault[] = [];
  #faultCount = 0;
  #lineCount = 0;
  #frameCount = 0;
  #timeUs = 0;

  constructor(chunks: AsyncIterable<Uint8Array>, options: CanLogOptions = {}) {
    this.#chunks = chunks;
    this.#delta = options.screenTime === 'delta';
  }

  /** The first 100, in the order of lines. */
  get faults(): readonly CanLogFault[] {
    return this.#faults;
  }

  get faultCount(): number {
    return this.#faultCount;
  }

  get frameCount(): number {
    return this.#frameCount;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CanFrame> {
    let rest = '';
    let skipping = false;
    try {
      for await (const chunk of this.#chunks) {
        // Logs are ASCII; Latin-1 keeps every other byte one character, to be refused by the
        // parser.
        const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          this.#lineCount++;
          const frame = skipping ? undefined : this.#read(line);
          skipping = false;
          if (frame !== undefined) yield frame;
        }
        if (rest.length > MAX_LINE_LENGTH) {
          if (!skipping) this.#fault(this.#lineCount + 1, TOO_LONG);
          skipping = true;
          rest = '';
        }
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#fault(this.#lineCount + 1, `the compressed log is damaged or torn: ${error.message}`);
      return;
    }
    if (rest !== '' && !skipping) this.#fault(this.#lineCount + 1, `torn last line: "${rest}"`);
  }

  #read(line: string): CanFrame | undefined {
    if (line.length > MAX_LINE_LENGTH) {
      this.#fault(this.#lineCount, TOO_LONG);
      return undefined;
    }
    const parsed = parseCandumpLine(line);
    if (parsed.kind === 'fault') this.#fault(this.#lineCount, parsed.reason);
    if (parsed.kind !== 'frame') return undefined;
    this.#frameCount++;
    if (parsed.form === 'log' || !this.#delta) return parsed.frame;
    this.#timeUs += parsed.frame.timeUs;
    return { ...parsed.frame, timeUs: this.#timeUs };
  }

  #fault(line: number, reason: string): void {
    this.#faultCount++;
    if (this.#faults.length < MAX_KEPT_FAULTS) this.#faults.push({ line, reason });
  }
}

const TOO_LONG = `longer than ${MAX_LINE_LENGTH} characters`;

/**
 * Failures of the decompressor (`Z_BUF_ERROR`: the end is missing; `Z_DATA_ERROR`: not gzip any
 * more).
 */
function isDamage(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}
