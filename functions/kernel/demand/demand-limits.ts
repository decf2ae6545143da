/** What one demand may ask for, and what a draw from a distribution is cut to. */

/** CPU time, delay and holding time of one burst: beyond a request's usual time limit there is nothing to study. */
export const MAX_BURST_MS = 60_000;

export const MAX_MEMORY_BYTES = 1024 ** 3;

/** A payload lies in a document of the store, which takes 15 MiB. */
export const MAX_PAYLOAD_BYTES = 8 * 1024 ** 2;

/** Demands of one stage. */
export const MAX_DEMANDS = 16;

export const MAX_TEXT_LENGTH = 4096;

/** Values of an empirical distribution. */
export const MAX_VALUES = 100_000;

export const MAX_VALUE_FILE_BYTES = 4 * 1024 ** 2;

/** Standard deviation over mean of a log-normal: at 10 the largest of 1,000 draws is some 100 times the mean. */
export const MAX_CV = 10;

/** Bursts that wait for the event loop's thread; the platform's concurrency limit is far below. */
export const MAX_INLINE_QUEUE = 1000;
