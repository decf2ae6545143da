import { decode, Tokenizer as CborTokenizer, Type } from 'cborg';
import type { DecodeTokenizer } from 'cborg/interface';
import { Tokenizer as JsonTokenizer } from 'cborg/json';
import { TachographError } from '../core/errors.ts';
import { MAX_DOCUMENT_DEPTH, MAX_DOCUMENT_ITEMS } from './batch-limits.ts';

export type BodyFormat = 'cbor' | 'json';

type CborToken = ReturnType<DecodeTokenizer['next']>;

/**
 * One CBOR item or JSON text as plain values, without what lets two readers see two things:
 * duplicate keys, indefinite lengths, tags, `undefined`, NaN and infinities, integers beyond 2^53,
 * integers longer than they need to be, bytes after the end. At most 1,000,000 values, 8 levels
 * deep: both are counted while reading, before anything is built. Throws BODY_MALFORMED.
 */
export function decodeStrict(body: Uint8Array, format: BodyFormat): unknown {
  const options = {
    strict: true,
    allowIndefinite: false,
    allowUndefined: false,
    allowInfinity: false,
    allowNaN: false,
    allowBigInt: false,
    rejectDuplicateMapKeys: true,
  };
  // Never a Buffer: its slices are views, which would keep the whole body alive.
  const bytes = new Uint8Array(body.buffer, body.byteOffset, body.length);
  const tokenizer =
    format === 'cbor' ? new CborTokenizer(bytes, options) : new JsonTokenizer(bytes, options);
  try {
    return decode(bytes, { ...options, tokenizer: new BoundedTokenizer(tokenizer) });
  } catch (error) {
    const detail = (error instanceof Error ? error.message : String(error)).replace(
      /^(?:CBOR|JSON) decode error: /,
      '',
    );
    throw new TachographError('BODY_MALFORMED', { format, detail }, { cause: error });
  }
}

/** Counts values and open containers as the decoder, which recurses, asks for them. */
class BoundedTokenizer implements DecodeTokenizer {
  readonly #tokens: DecodeTokenizer;
  /**
   * How many values each open container still waits for; Infinity in JSON, where a break ends it.
   */
  readonly #open: number[] = [];
  #items = 0;

  constructor(tokens: DecodeTokenizer) {
    this.#tokens = tokens;
  }

  done(): boolean {
    return this.#tokens.done();
  }

  pos(): number {
    return this.#tokens.pos();
  }

  next(): CborToken {
    const token = this.#tokens.next();
    if (++this.#items > MAX_DOCUMENT_ITEMS) {
      throw new Error(`more than ${MAX_DOCUMENT_ITEMS} values`);
    }
    const { type } = token;
    if (type === Type.break) {
      this.#open.pop();
      this.#complete();
    } else if (type === Type.array || type === Type.map) {
      const entries = Number(token.value);
      this.#enter(type === Type.map ? 2 * entries : entries);
    } else {
      this.#complete();
    }
    return token;
  }

  #enter(values: number): void {
    if (values === 0) {
      this.#complete();
      return;
    }
    this.#open.push(values);
    if (this.#open.length > MAX_DOCUMENT_DEPTH) {
      throw new Error(`nested deeper than ${MAX_DOCUMENT_DEPTH} levels`);
    }
  }

  /** A value is complete: it may complete the containers around it. */
  #complete(): void {
    for (let top = this.#open.length - 1; top >= 0; top--) {
      const left = (this.#open[top] ?? 0) - 1;
      this.#open[top] = left;
      if (left > 0) return;
      this.#open.pop();
    }
  }
}
