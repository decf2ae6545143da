import { TachographError } from '#kernel/core/errors.ts';

import { bitLayout } from './bit-layout.ts';
import type { FaultList } from './fault-list.ts';
import { MAX_MESSAGE_BYTES, MAX_MESSAGES, MAX_SIGNALS_PER_MESSAGE } from './limits.ts';
import type { Labels, ValueType } from './model.ts';
import type {
  MessageStatement,
  MultiplexStatement,
  SignalStatement,
  Statement,
} from './statements.ts';

/** A signal while statements behind its own may still change it. */
export interface SignalDraft {
  readonly statement: SignalStatement;
  /** The long name where the file gives one. */
  name: string;
  valueType: ValueType;
  labels: Labels;
  comment: string;
  multiplex: MultiplexStatement | undefined;
}

export interface MessageDraft {
  readonly statement: MessageStatement;
  readonly id: number;
  readonly extended: boolean;
  name: string;
  comment: string;
  isFd: boolean;
  cycleMs: number | undefined;
  /** By short name. */
  readonly signals: Map<string, SignalDraft>;
  /** Left out with a fault of their own: what refers to them needs no second one. */
  readonly lostSignals: Set<string>;
  readonly longNames: Set<string>;
}

export interface Drafts {
  readonly messages: Map<number, MessageDraft>;
  readonly messageNames: Set<string>;
  /** Left out, with a fault of their own or because they are no messages. */
  readonly lostMessages: Set<number>;
}

const EXTENDED_FLAG = 0x8000_0000;
const MAX_EXTENDED_ID = 0x1fff_ffff;
const MAX_STANDARD_ID = 0x7ff;
const MAX_FRAME_BYTES = 64;

/** An editor's container for signals that belong to no message, known by its id or by its name. */
const INDEPENDENT_SIGNALS_ID = 0xc000_0000;
const INDEPENDENT_SIGNALS_NAME = 'VECTOR__INDEPENDENT_SIG_MSG';

/** Bit 31 marks a 29-bit id. A number above 11 bits without it can be no other, and is reported. */
const isExtended = (rawId: number): boolean => rawId > MAX_STANDARD_ID;

const isMarked = (rawId: number): boolean => rawId >= EXTENDED_FLAG;

/** Bits 29 and 30 have no meaning beside bit 31. */
const bareId = (rawId: number): number => (isMarked(rawId) ? rawId & MAX_EXTENDED_ID : rawId);

/** Equal for ids that mean the same frame. */
export const messageKey = (rawId: number): number =>
  isExtended(rawId) ? EXTENDED_FLAG + bareId(rawId) : rawId;

class Collector {
  readonly drafts: Drafts = {
    messages: new Map(),
    messageNames: new Set(),
    lostMessages: new Set(),
  };
  readonly #faults: FaultList;
  /** The message that signals belong to; `lost` where it has been reported, else undefined. */
  #current: MessageDraft | 'lost' | undefined = undefined;

  constructor(faults: FaultList) {
    this.#faults = faults;
  }

  add(statement: Statement): void {
    if (statement.kind === 'message') this.#current = this.#addMessage(statement);
    else if (statement.kind === 'signal') this.#addSignal(statement);
    else this.#current = undefined;
  }

  #addMessage(statement: MessageStatement): MessageDraft | 'lost' {
    const { name, rawId, offset } = statement;
    const key = messageKey(rawId);
    const { messages, lostMessages } = this.drafts;
    if (rawId === INDEPENDENT_SIGNALS_ID || name === INDEPENDENT_SIGNALS_NAME) {
      lostMessages.add(key);
      return 'lost';
    }
    const detail = this.#messageFault(statement);
    if (detail !== undefined) {
      this.#faults.add(offset, 'DBC_MESSAGE_INVALID', { name, detail });
      if (!messages.has(key)) lostMessages.add(key);
      return 'lost';
    }
    if (messages.size >= MAX_MESSAGES) {
      throw new TachographError('DBC_TOO_MANY_MESSAGES', { max: MAX_MESSAGES });
    }
    if (isExtended(rawId) && !isMarked(rawId)) {
      this.#faults.add(offset, 'DBC_ID_UNMARKED', { name, id: rawId, flag: EXTENDED_FLAG });
    }
    const draft = newMessage(statement);
    messages.set(key, draft);
    this.drafts.messageNames.add(name);
    return draft;
  }

  #messageFault({ rawId, name, byteLength }: MessageStatement): string | undefined {
    if (!isMarked(rawId) && rawId > MAX_EXTENDED_ID) return `its id ${rawId} has more than 29 bits`;
    const other = this.drafts.messages.get(messageKey(rawId));
    if (other !== undefined) return `"${other.name}" has the same id ${rawId}`;
    if (this.drafts.messageNames.has(name)) return 'another message has the same name';
    if (byteLength > MAX_MESSAGE_BYTES) {
      return `its length is ${byteLength} bytes; at most ${MAX_MESSAGE_BYTES} are possible`;
    }
    return undefined;
  }

  #addSignal(statement: SignalStatement): void {
    const message = this.#current;
    if (message === 'lost') return;
    const { offset, name } = statement;
    if (message === undefined) {
      // One fault for the whole run of signals.
      this.#faults.add(offset, 'DBC_SIGNAL_ORPHAN', { signal: name });
      this.#current = 'lost';
      return;
    }
    if (message.signals.size >= MAX_SIGNALS_PER_MESSAGE) {
      const max = MAX_SIGNALS_PER_MESSAGE;
      this.#faults.add(offset, 'DBC_TOO_MANY_SIGNALS', { message: message.name, max });
      this.#current = 'lost';
      return;
    }
    const detail = signalFault(message, statement);
    if (detail === undefined) {
      message.signals.set(name, newSignal(statement));
      return;
    }
    loseSignal(message, statement, detail, this.#faults);
  }
}

function newMessage(statement: MessageStatement): MessageDraft {
  return {
    statement,
    id: bareId(statement.rawId),
    extended: isExtended(statement.rawId),
    name: statement.name,
    comment: '',
    // Where no VFrameFormat says otherwise, a length that only CAN FD carries.
    isFd: statement.byteLength > 8 && statement.byteLength <= MAX_FRAME_BYTES,
    cycleMs: undefined,
    signals: new Map(),
    lostSignals: new Set(),
    longNames: new Set(),
  };
}

function newSignal(statement: SignalStatement): SignalDraft {
  return {
    statement,
    name: statement.name,
    valueType: statement.signed ? 'signed' : 'unsigned',
    labels: new Map(),
    comment: '',
    multiplex: undefined,
  };
}

function signalFault(message: MessageDraft, statement: SignalStatement): string | undefined {
  const { name, startBit, bitLength, byteOrder, factor, addend } = statement;
  if (message.signals.has(name)) return 'the message has another signal of this name';
  if (bitLength < 1 || bitLength > 64)
    return `its length is ${bitLength} bits; 1 to 64 are possible`;
  const { endByte } = bitLayout(startBit, bitLength, byteOrder);
  const { byteLength } = message.statement;
  if (endByte > byteLength) {
    return `it needs ${endByte} bytes, but the message has ${byteLength}`;
  }
  // A factor of 0 would make every value the same, and raw values could not be found back.
  if (factor === 0) return 'its factor is 0; use 1 for an unscaled value';
  if (!Number.isFinite(factor) || !Number.isFinite(addend)) {
    return `its scale (${factor},${addend}) is not finite`;
  }
  return undefined;
}

/** Takes the signal out of its message, with a fault at `offset` (its own statement by default). */
export function loseSignal(
  message: MessageDraft,
  statement: SignalStatement,
  detail: string,
  faults: FaultList,
  offset: number = statement.offset,
): void {
  const fields = { signal: statement.name, message: message.name, detail };
  faults.add(offset, 'DBC_SIGNAL_INVALID', fields);
  message.lostSignals.add(statement.name);
  if (message.signals.get(statement.name)?.statement === statement) {
    message.signals.delete(statement.name);
  }
}

/**
 * Messages with their signals. What cannot be decoded is left out with a fault: a message with a
 * used or impossible id, a signal that reaches out of its message, a second one of the same name.
 *
 * Throws DBC_TOO_MANY_MESSAGES.
 */
export function collectDrafts(statements: readonly Statement[], faults: FaultList): Drafts {
  const collector = new Collector(faults);
  for (const statement of statements) collector.add(statement);
  return collector.drafts;
}
