/** What to send of a file. `end` is exclusive. */
export type ByteRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: ByteRange = { kind: 'whole' };

/**
 * A `Range` header against a file of `bytes` bytes (RFC 9110, section 14).
 *
 * One range is honoured: `bytes=0-499`, `bytes=500-`, `bytes=-500` (the last 500). Anything else that is
 * no such range, several ranges included, is ignored as the RFC allows. Examples for 1,000 bytes:
 * `bytes=900-2000` is 900 to 999; `bytes=1000-` is unsatisfiable; `bytes=-0` too.
 */
export function byteRange(header: string | undefined, bytes: number): ByteRange {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (match === null) return WHOLE;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return WHOLE;
    const length = Math.min(Number(last), bytes);
    if (length === 0) return { kind: 'unsatisfiable' };
    return { kind: 'part', start: bytes - length, end: bytes };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return WHOLE;
  if (start >= bytes) return { kind: 'unsatisfiable' };
  return { kind: 'part', start, end: last === '' ? bytes : Math.min(Number(last) + 1, bytes) };
}
