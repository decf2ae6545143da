/**
 * What one upload may contain. docs/batch-format.md shows the same table; a test compares the two.
 */

/** Bytes of a request's body as sent. Larger uploads fail on mobile networks anyway. */
export const MAX_BODY_BYTES = 1_048_576;
/** Bytes after decompression; 200,000 FD frames of 64 bytes with their times fit. */
export const MAX_INFLATED_BYTES = 16_777_216;
export const MAX_FRAMES = 200_000;
/** Groups of (bus, id, kind): four buses of a thousand ids each. */
export const MAX_GROUPS = 4_096;
/** Longest span of one batch: one hour. */
export const MAX_SPAN_US = 3_600_000_000;
/** Longest monotonic time of a session: ten years. */
export const MAX_SESSION_US = 315_360_000_000_000;
/**
 * Latest wall time: 100,000 days after 1970, in October 2243. Adding a session stays below 2^53 µs.
 */
export const MAX_WALL_US = 8_640_000_000_000_000;
export const MAX_CAMPAIGN_VERSION = 999_999;
/** Largest of the vehicle's own counts. */
export const MAX_COUNT = 1_000_000_000_000;
export const MAX_DROP_REASONS = 32;
/** Values in a body, keys included: bounds the memory that parsing takes. */
export const MAX_DOCUMENT_ITEMS = 1_000_000;
export const MAX_DOCUMENT_DEPTH = 8;
