import { Binary } from 'mongodb';
import type { Fact, FactValue } from './store.ts';

/**
 * What the driver takes and gives: plain values, bigint for integers beyond 32 bits, Binary,
 * documents.
 */
export type BsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | BsonArray
  | BsonDocument;
type BsonArray = BsonValue[];
/** A Map, so that a member named `__proto__` or `_bsontype` is data like any other. */
export type BsonDocument = Map<string, BsonValue>;

const NESTED_ARRAY = '%array';
const INT32_MAX = 2_147_483_647;

/**
 * A fact as real BSON, so that people can inspect and query it in the database.
 *
 * Integers beyond 32 bits become int64 (the driver would write doubles). `undefined` is left out.
 */
export const factToBson = (fact: Fact): BsonDocument => toBson(fact) as BsonDocument;

function toBson(value: FactValue): BsonValue {
  if (typeof value === 'number') return numberToBson(value);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return (value as readonly FactValue[]).map(itemToBson);
  const document: BsonDocument = new Map();
  for (const [key, member] of Object.entries(value as Fact)) {
    if (member !== undefined) document.set(escapeKey(key), toBson(member));
  }
  return document;
}

/** FerretDB refuses arrays in arrays; a key that no fact's member can have marks them instead. */
function itemToBson(item: FactValue): BsonValue {
  return Array.isArray(item) ? new Map([[NESTED_ARRAY, toBson(item)]]) : toBson(item);
}

function numberToBson(value: number): number | bigint {
  if (!Number.isSafeInteger(value)) return value;
  // Adding 0 turns -0 into 0, as canonical CBOR does.
  return Math.abs(value) > INT32_MAX ? BigInt(value) : value + 0;
}

/** The inverse, for documents read with the driver's promotion of int64 to number switched on. */
export const bsonToFact = (document: object): Fact => fromBson(document) as Fact;

function fromBson(value: unknown): FactValue {
  if (typeof value !== 'object' || value === null) return value as FactValue;
  if (value instanceof Binary) return new Uint8Array(value.value());
  if (Array.isArray(value)) return value.map(fromBson);
  if (NESTED_ARRAY in value) return fromBson(value[NESTED_ARRAY]);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [unescapeKey(key), fromBson(member)]),
  );
}

/**
 * MongoDB gives "." and a leading "$" a meaning of their own and refuses NUL; the driver does the
 * same to `_bsontype`. Such keys (a bus named "can.1") are percent-encoded.
 */
function escapeKey(key: string): string {
  return key
    .replaceAll(/[%.$\0]/g, (character) => percent(character))
    .replace(/^_(?=_proto__$|bsontype$)/, '%5F');
}

const percent = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

const unescapeKey = (key: string): string =>
  key.replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
