import type { ValueType } from '#kernel/dbc/model.ts';
import type { ValueShape } from './value-codec.ts';

/**
 * A block of the sample codec: decoded tables, compact and self-describing.
 *
 * It is `TSB` and the format version 1, one byte that names the compressor, the length of the body (4
 * bytes, little-endian), then the compressed body. The body is six sections, each with its length before
 * it: texts and numbers (what the head names by its place), head (tables, columns, constants), times,
 * presence, values. Like stands by like, which is what a general compressor feeds on.
 */
export type BlockCodec = 'gzip' | 'zstd';

/** `TSB`, version 1. */
export const BLOCK_MAGIC = Uint8Array.of(0x54, 0x53, 0x42, 1);
export const BLOCK_PREFIX_BYTES = BLOCK_MAGIC.length + 1 + 4;

/** A place in these lists is what a block stores: only ever append. */
export const BLOCK_CODECS: readonly BlockCodec[] = ['gzip', 'zstd'];
export const VALUE_ARRAYS: readonly ValueShape['array'][] = ['float64', 'bigint64', 'biguint64'];
export const VALUE_TYPES: readonly ValueType[] = ['unsigned', 'signed', 'float32', 'float64'];

/** Limits in both directions: what can be written can be read. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Rows × columns, time columns included: 9 bytes of memory each, 75 MB in all. */
export const MAX_CELLS = 8 * 1024 * 1024;
/** Names and units, in UTF-8. */
export const MAX_TEXT_BYTES = 4096;
