import type { IncomingMessage } from 'node:http';
import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';

export interface BodyLimits {
  /** Of one body. */
  readonly maxBytes: number;
  /** Bodies that are under way at once. */
  readonly maxReading: number;
  /** Of all bodies that came in and were not released yet. */
  readonly maxHeldBytes: number;
  /** So long may nothing of a body arrive. */
  readonly idleMs: number;
}

/** A body in memory, counted until `release`. */
export interface HeldBody {
  /** null where the request has none. */
  readonly bytes: Buffer | null;
  release(): void;
}

const NO_BODY: HeldBody = { bytes: null, release: () => {} };

/**
 * Reads request bodies whole, within bounds on one body and on all.
 *
 * Counted are bytes that arrived, not those announced: who announces much and sends nothing takes no
 * room from others.
 */
export class BodyReader {
  readonly #clock: Clock;
  readonly #limits: BodyLimits;
  #reading = 0;
  #heldBytes = 0;

  constructor(clock: Clock, limits: BodyLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get reading(): number {
    return this.#reading;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Throws BODY_TOO_LARGE at once for an announced length above the limit, else when the limit is
   * passed; BODY_TIMEOUT when nothing arrives for `idleMs`; GATEWAY_OVERLOADED at the bounds on all.
   * The request is left readable, so that it can be answered.
   */
  async read(request: IncomingMessage): Promise<HeldBody> {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    if (encoding === undefined && Number(length) === 0) return NO_BODY;
    const { maxBytes, maxReading } = this.#limits;
    if (Number(length) > maxBytes) throw new TachographError('BODY_TOO_LARGE', { maxBytes });
    if (this.#reading >= maxReading) {
      const fields = { max: maxReading, what: 'unfinished requests' };
      throw new TachographError('GATEWAY_OVERLOADED', fields);
    }
    this.#reading += 1;
    try {
      return await this.#collect(request);
    } finally {
      this.#reading -= 1;
    }
  }

  async #collect(request: IncomingMessage): Promise<HeldBody> {
    const { maxBytes, maxHeldBytes, idleMs } = this.#limits;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const pieces: Buffer[] = [];
    let bytes = 0;
    let lastMs = this.#clock.monotonicMs();
    const onData = (piece: Buffer): void => {
      lastMs = this.#clock.monotonicMs();
      bytes += piece.length;
      this.#heldBytes += piece.length;
      pieces.push(piece);
      if (bytes > maxBytes) reject(new TachographError('BODY_TOO_LARGE', { maxBytes }));
      else if (this.#heldBytes > maxHeldBytes) {
        const fields = { max: maxHeldBytes, what: 'bytes of requests' };
        reject(new TachographError('GATEWAY_OVERLOADED', fields));
      }
    };
    let ended = false;
    const onEnd = (): void => {
      ended = true;
      resolve();
    };
    const onClose = (): void => {
      if (!ended) reject(new Error('The caller closed the connection'));
    };
    // This one stays: a connection may still break while the answer is on its way.
    request.on('error', reject);
    request.on('data', onData).once('end', onEnd).once('close', onClose);
    const onIdle = (): void => reject(new TachographError('BODY_TIMEOUT', { limitMs: idleMs }));
    const unwatch = this.#watch(() => lastMs, onIdle);
    const release = (): void => {
      this.#heldBytes -= bytes;
      bytes = 0;
    };
    try {
      await promise;
      return { bytes: Buffer.concat(pieces, bytes), release };
    } catch (error) {
      release();
      throw error;
    } finally {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      await unwatch();
    }
  }

  /**
   * Calls `onIdle` when nothing came for `idleMs`. A body that came with its request's head, as most do,
   * is whole before the next turn of the event loop: for it no timer is made, which would be a tenth of
   * the gateway's work.
   */
  #watch(lastMs: () => number, onIdle: () => void): () => Promise<void> {
    const done = new AbortController();
    let watching: Promise<void> | undefined;
    const nextTurn = setImmediate(() => {
      watching = this.#untilIdle(lastMs, done.signal).then(onIdle, () => undefined);
    });
    return async () => {
      clearImmediate(nextTurn);
      if (watching === undefined) return;
      done.abort();
      await watching;
    };
  }

  /** Resolves when nothing came for `idleMs`; rejects when aborted. */
  async #untilIdle(lastMs: () => number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const restMs = lastMs() + this.#limits.idleMs - this.#clock.monotonicMs();
      if (restMs <= 0) return;
      await this.#clock.sleep(restMs, signal);
    }
  }
}
