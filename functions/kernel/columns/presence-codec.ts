import { type ByteReader, corrupt } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** Which rows have a value: nearly always all of them, sometimes none, else runs. */
const ALL = 0;
const NONE = 1;
const RUNS = 2;

/** Writes the form to `head` and runs, where needed, to `body`; how many rows are present. */
export function encodePresence(head: ByteWriter, body: ByteWriter, present: Uint8Array): number {
  let count = 0;
  for (const flag of present) count += flag;
  if (count === present.length || count === 0) {
    head.byte(count === 0 ? NONE : ALL);
    return count;
  }
  head.byte(RUNS);
  // Lengths of alternating runs, absent first: 1 1 0 is "0 absent, 2 present, 1 absent".
  let flag = 0;
  let length = 0;
  for (const next of present) {
    if (next !== flag) {
      body.varint(length);
      flag = next;
      length = 0;
    }
    length += 1;
  }
  body.varint(length);
  return count;
}

/** `flags` comes as zeros, one a row; how many rows are present. */
export function decodePresence(head: ByteReader, body: ByteReader, flags: Uint8Array): number {
  const form = head.byte();
  if (form === NONE) return 0;
  if (form === ALL) {
    flags.fill(1);
    return flags.length;
  }
  if (form !== RUNS) throw corrupt(`unknown form ${form} of presence`);
  let count = 0;
  let start = 0;
  for (let flag = 0; start < flags.length; flag = 1 - flag) {
    const length = body.varint();
    // Only the first run may be empty: otherwise a block of zeros would never come to an end.
    if (length === 0 && start > 0) throw corrupt('an empty run of presence');
    if (length > flags.length - start) throw corrupt('presence exceeds the rows');
    flags.fill(flag, start, start + length);
    count += flag * length;
    start += length;
  }
  return count;
}
