import { invalid } from './attributes.ts';

/**
 * Attribute values in HTTP headers.
 *
 * Source: CloudEvents HTTP protocol binding 1.0.2, section 3.1.3.2: everything outside U+0021 to
 * U+007E is percent-encoded as UTF-8, and so are space, `"` and `%`. Reading accepts quoted strings
 * of older senders and needless encodings, and refuses bytes that are no UTF-8.
 */
const NEEDS_ENCODING = /[^\x21\x23\x24\x26-\x7E]/u;
const EACH_TO_ENCODE = /[^\x21\x23\x24\x26-\x7E]+/gu;
const BAD_PERCENT = /%(?![0-9A-Fa-f]{2})/;
const NOT_ASCII = /[^\x20-\x7E\t]/;

/** `Euro € 😀` becomes `Euro%20%E2%82%AC%20%F0%9F%98%80`; plain ASCII is returned as it is. */
export function encodeHeaderValue(value: string): string {
  if (!NEEDS_ENCODING.test(value)) return value;
  return value.replaceAll(EACH_TO_ENCODE, (text) =>
    [...Buffer.from(text, 'utf8')]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}

/** The inverse. Throws EVENT_INVALID naming `header`. */
export function decodeHeaderValue(header: string, raw: string): string {
  const value = raw.startsWith('"') ? unquote(header, raw) : raw;
  if (NOT_ASCII.test(value)) {
    throw invalid(`the header ${header} must be ASCII; percent-encode other characters as UTF-8`);
  }
  if (!value.includes('%')) return value;
  if (BAD_PERCENT.test(value)) {
    throw invalid(`the header ${header} holds a "%" that starts no encoding; write it as %25`);
  }
  try {
    return decodeURIComponent(value);
  } catch (error) {
    throw invalid(`the header ${header} holds percent-encoded bytes that are no UTF-8`, error);
  }
}

/** RFC 7230 section 3.2.6: `"a \" b"` is `a " b`. */
function unquote(header: string, raw: string): string {
  if (!/^"(?:[^"\\]|\\.)*"$/.test(raw)) {
    throw invalid(`the header ${header} holds a quoted string that does not end`);
  }
  return raw.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}
