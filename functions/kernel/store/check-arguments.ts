import { assert } from '../core/assert.ts';
import { TachographError } from '../core/errors.ts';
import { COLLECTIONS, type Collection } from './store.ts';

const MAX_ID_LENGTH = 512;
const MAX_LIMIT = 10_000;
/**
 * What the grammar of ids produces (kernel/core/ids.ts): printable ASCII, so every adapter sorts
 * alike.
 */
const ID = /^[\x21-\x7e]+$/;

/** Ids and collections are made by code, never taken from outside: a wrong one is a bug. */
export function checkKey(collection: Collection, id: string): void {
  checkCollection(collection);
  assert(id.length <= MAX_ID_LENGTH && ID.test(id), `use "${id}" as an id in ${collection}`);
}

export function checkCollection(collection: Collection): void {
  assert(COLLECTIONS.includes(collection), `use the unknown collection "${collection}"`);
}

export function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return;
  throw new TachographError('STORE_LIMIT_INVALID', { limit, max: MAX_LIMIT });
}
