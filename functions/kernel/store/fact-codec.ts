import { decode, encode } from 'cborg';
import { TachographError } from '../core/errors.ts';
import { sha256Hex } from '../system/sha256.ts';
import type { Fact, FactValue } from './store.ts';

/** A document's size limit, in bytes of canonical CBOR. MongoDB's is 16 MiB with id and hash. */
export const MAX_DOCUMENT_BYTES = 15 * 1024 * 1024;

/**
 * Canonical CBOR: shortest numbers, keys sorted (RFC 7049 3.9), `undefined` members left out. Two
 * documents with the same content give the same bytes, whatever the order of their members.
 */
export const encodeFact = (document: FactValue): Uint8Array =>
  encode(document, { ignoreUndefinedProperties: true });

/** What `encodeFact` wrote; byte strings are copies, apart from `bytes`. */
export const decodeFact = (bytes: Uint8Array): Fact => decode(bytes) as Fact;

/** Hex SHA-256 of the canonical CBOR. */
export const factHash = (document: FactValue): string => sha256Hex(encodeFact(document));

/** `encodeFact`, or STORE_DOCUMENT_TOO_LARGE. */
export function encodeWithinLimit(collection: string, id: string, document: Fact): Uint8Array {
  const bytes = encodeFact(document);
  if (bytes.length > MAX_DOCUMENT_BYTES) throw documentTooLarge(collection, id, bytes.length);
  return bytes;
}

export const documentTooLarge = (collection: string, id: string, bytes: number): TachographError =>
  new TachographError('STORE_DOCUMENT_TOO_LARGE', {
    document: `${collection}/${id}`,
    bytes,
    maxBytes: MAX_DOCUMENT_BYTES,
  });
