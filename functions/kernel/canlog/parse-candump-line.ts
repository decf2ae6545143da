import { isNamePart } from '../core/ids.ts';
import type { CanFrame } from './can-frame.ts';
import {
  isFdLength,
  MAX_BASE_ID,
  MAX_CLASSIC_LENGTH,
  MAX_EXTENDED_ID,
  MAX_FD_LENGTH,
} from './can-frame.ts';

/** What one line of a log is. A fault says what is wrong with it, for a person. */
export type CandumpLine =
  | { readonly kind: 'frame'; readonly frame: CanFrame; readonly form: 'log' | 'screen' }
  | { readonly kind: 'skip' }
  | { readonly kind: 'fault'; readonly reason: string };

// The forms are those of can-utils: candump.c and sprint_canframe / snprintf_long_canframe in
// lib.c.
const LOG_LINE = /^\((\d{1,11}\.\d{1,9})\)\s+(\S+)\s+([0-9A-Fa-f]{1,8})#(\S*)(?:\s+[RT])?$/;
const SCREEN_LINE =
  /^\(([^)]*)\)\s+(\S+)\s+(?:[RT]X [-B] [-E]\s+)?([0-9A-Fa-f]{1,8})\s+\[(\d{1,2})\](?:\s+(.*))?$/;
const SECONDS = /^(\d{1,11})\.(\d{1,9})$/;
const DATE_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\.(\d{1,9})$/;
const REMOTE_BODY = /^R(?:([0-8])(?:_[9A-F])?)?$/;
const CLASSIC_BODY = /^([0-9A-Fa-f]*)(?:_[9A-F])?$/;
const FD_BODY = /^#([0-9A-Fa-f])([0-9A-Fa-f]*)$/;
// Two hex digits a byte, then nothing, candump's -a text in quotes or a word.
const SCREEN_BYTES = /^((?:[0-9A-Fa-f]{2}(?: |$))*)\s*(?:'.*'|ERRORFRAME)?$/;

/** SocketCAN's flag of an error frame in a printed id. */
const ERROR_FLAG = 0x2000_0000;
const NO_DATA = new Uint8Array(0);

class LineFault extends Error {}

const refuse = (reason: string): never => {
  throw new LineFault(reason);
};

/**
 * Reads one line of candump's log form (`-L`, `-l`) or of its screen forms (`-ta`, `-tA`, `-td`,
 * `-tz`).
 *
 * `(1609779922.655421) can0 343#B204` is the log form: 3 hex digits are a base id, more an extended
 * one; `##3…` is CAN FD with the flags nibble 3, `R8` a remote frame, an id with bit 29 set an
 * error frame. ` (000.001220)  can0  0C8   [8]  F0 …` is the screen form; two digits in the
 * brackets (`[08]`) say CAN FD. Time is as written, in µs; digits below 1 µs are dropped. A date
 * without a zone is taken as UTC. Empty lines, `#` comments and the indented explanations of error
 * frames are skipped.
 */
export function parseCandumpLine(line: string): CandumpLine {
  const text = line.trim();
  if (text === '' || text.startsWith('#') || (line.startsWith('\t') && !text.startsWith('('))) {
    return { kind: 'skip' };
  }
  try {
    const log = LOG_LINE.exec(text);
    if (log !== null) return { kind: 'frame', form: 'log', frame: logFrame(log) };
    const screen = SCREEN_LINE.exec(text);
    if (screen !== null) return { kind: 'frame', form: 'screen', frame: screenFrame(screen) };
  } catch (error) {
    if (!(error instanceof LineFault)) throw error;
    return { kind: 'fault', reason: error.message };
  }
  return { kind: 'fault', reason: explain(text) };
}

function explain(text: string): string {
  if (!text.startsWith('(')) return 'no time stamp in parentheses at the start of the line';
  return 'neither "(time) bus id#data" nor "(time) bus id [length] data"';
}

function logFrame(match: RegExpExecArray): CanFrame {
  const [, time = '', bus = '', idText = '', body = ''] = match;
  const base = { timeUs: readTime(time), bus: readBus(bus) };
  const id = readId(idText);
  if (id.error) return errorFrame(base, id.value);
  const remote = REMOTE_BODY.exec(body);
  if (remote !== null) return remoteFrame(base, id, Number(remote[1] ?? '0'));
  const fd = FD_BODY.exec(body);
  if (fd !== null) {
    const [, flags = '', hex = ''] = fd;
    return dataFrame(base, id, 'fd', readHex(hex, MAX_FD_LENGTH), Number.parseInt(flags, 16));
  }
  const classic = CLASSIC_BODY.exec(body);
  if (classic === null) return refuse(`"${body}" is not hex digits`);
  return dataFrame(base, id, 'data', readHex(classic[1] ?? '', MAX_CLASSIC_LENGTH), 0);
}

function screenFrame(match: RegExpExecArray): CanFrame {
  const [, time = '', bus = '', idText = '', lengthText = '', rest = ''] = match;
  const base = { timeUs: readTime(time), bus: readBus(bus) };
  const id = readId(idText);
  const length = Number(lengthText);
  if (id.error || rest.endsWith('ERRORFRAME')) return errorFrame(base, id.value);
  if (rest.startsWith('remote request')) return remoteFrame(base, id, length);
  const kind = lengthText.length === 2 ? 'fd' : 'data';
  const bytes = SCREEN_BYTES.exec(rest);
  if (bytes === null) return refuse(`"${rest}" is not bytes of two hex digits`);
  const hex = (bytes[1] ?? '').replaceAll(' ', '');
  const data = readHex(hex, kind === 'fd' ? MAX_FD_LENGTH : MAX_CLASSIC_LENGTH);
  if (data.length !== length)
    return refuse(`[${lengthText}] announced, ${data.length} bytes found`);
  return dataFrame(base, id, kind, data, 0);
}

interface FrameBase {
  readonly timeUs: number;
  readonly bus: string;
}

interface FrameId {
  readonly value: number;
  readonly extended: boolean;
  readonly error: boolean;
}

function dataFrame(
  base: FrameBase,
  id: FrameId,
  kind: 'data' | 'fd',
  data: Uint8Array,
  fdFlags: number,
): CanFrame {
  if (kind === 'fd' && !isFdLength(data.length)) {
    return refuse(
      `${data.length} bytes is not a CAN FD length (0 to 8, 12, 16, 20, 24, 32, 48, 64)`,
    );
  }
  const { timeUs, bus } = base;
  const { value, extended } = id;
  return { timeUs, bus, id: value, extended, kind, data, fdFlags, ...NO_REQUEST, ...NO_ERROR };
}

const NO_REQUEST = { requestedLength: 0 } as const;
const NO_ERROR = { errorClass: 0 } as const;

function remoteFrame(base: FrameBase, id: FrameId, requestedLength: number): CanFrame {
  if (requestedLength > MAX_CLASSIC_LENGTH) {
    return refuse(`a remote frame asks for ${requestedLength} bytes; at most 8 are possible`);
  }
  const { timeUs, bus } = base;
  const identity = { id: id.value, extended: id.extended, kind: 'remote' } as const;
  return { timeUs, bus, ...identity, data: NO_DATA, fdFlags: 0, requestedLength, ...NO_ERROR };
}

function errorFrame(base: FrameBase, printedId: number): CanFrame {
  const { timeUs, bus } = base;
  const identity = { id: 0, extended: false, kind: 'error' } as const;
  const errorClass = printedId % ERROR_FLAG;
  return { timeUs, bus, ...identity, data: NO_DATA, fdFlags: 0, ...NO_REQUEST, errorClass };
}

function readBus(bus: string): string {
  const known: boolean = isNamePart(bus);
  return known ? bus : refuse(`"${bus}" is not the name of a bus`);
}

function readId(text: string): FrameId {
  const value = Number.parseInt(text, 16);
  const extended = text.length > 3;
  if (extended && value > MAX_EXTENDED_ID) {
    // 20000004 = error flag and class 4; 40000000 and up are flags no log prints.
    if (value < 2 * ERROR_FLAG) return { value, extended, error: true };
    return refuse(`id ${text} has more than 29 bits`);
  }
  if (!extended && value > MAX_BASE_ID) return refuse(`id ${text} has more than 11 bits`);
  return { value, extended, error: false };
}

/** Integer arithmetic on the digits: 1609779922.655421 has no exact double. */
function readTime(text: string): number {
  const seconds = SECONDS.exec(text);
  if (seconds !== null) {
    const [, whole = '', fraction = ''] = seconds;
    return Number(whole) * 1_000_000 + microseconds(fraction);
  }
  const dated = DATE_TIME.exec(text);
  const [, date = '', time = '', fraction = ''] = dated ?? [];
  const ms = dated === null ? Number.NaN : Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(ms)) return refuse(`"${text}" is not a time`);
  return ms * 1_000 + microseconds(fraction);
}

/** "655421" → 655421, "5" → 500000, "655421999" → 655421. */
const microseconds = (fraction: string): number => Number(fraction.padEnd(6, '0').slice(0, 6));

function readHex(hex: string, maxBytes: number): Uint8Array {
  if (hex.length % 2 !== 0) return refuse(`an odd number of hex digits (${hex.length})`);
  const length = hex.length / 2;
  if (length > maxBytes)
    return refuse(`${length} bytes; a frame of this kind has at most ${maxBytes}`);
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; index++) {
    bytes[index] = (nibble(hex.charCodeAt(2 * index)) << 4) | nibble(hex.charCodeAt(2 * index + 1));
  }
  return bytes;
}

/** '0' … '9' are 48 … 57; 'A' … 'F' and 'a' … 'f' are 1 … 6 in their low four bits. */
const nibble = (code: number): number => (code <= 57 ? code - 48 : (code & 15) + 9);
