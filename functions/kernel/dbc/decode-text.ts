import { isUtf8 } from 'node:buffer';

/**
 * The text of a DBC file. DBC names no encoding: the common editors write Windows-1252, newer tools
 * UTF-8. Text in Windows-1252 with a character beyond ASCII is almost never valid UTF-8 (`°C` is
 * B0 43, and B0 cannot start a UTF-8 sequence), so validity decides. A byte order mark is dropped.
 */
export function decodeText(source: Uint8Array): string {
  return new TextDecoder(isUtf8(source) ? 'utf-8' : 'windows-1252').decode(source);
}
