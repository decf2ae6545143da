import { sha256Hex } from '../system/sha256.ts';

const NAME = /^[A-Za-z0-9._~-]{1,64}$/;

/**
 * Any text as one part of an id: characters that a name may not hold become `~` and two to six hex
 * digits (`a/b` → `a~2fb`); what is then too long becomes its SHA-256.
 */
export function anyTextPart(text: string): string {
  if (text === '' || text === '.' || text === '..') return sha256Hex(text);
  const escaped = text.replaceAll(
    /[^A-Za-z0-9._-]/gu,
    (char) => `~${(char.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`,
  );
  return NAME.test(escaped) ? escaped : sha256Hex(text);
}
