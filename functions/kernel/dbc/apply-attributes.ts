import { findMessage, findSignal } from './annotate-drafts.ts';
import type { Drafts, MessageDraft } from './drafts.ts';
import type { FaultList } from './fault-list.ts';
import { MAX_NAME_CHARACTERS } from './limits.ts';
import type { AttributeStatement, Statement } from './statements.ts';

const CYCLE_TIME = 'GenMsgCycleTime';
const FRAME_FORMAT = 'VFrameFormat';
const LONG_MESSAGE_NAME = 'SystemMessageLongSymbol';
const LONG_SIGNAL_NAME = 'SystemSignalLongSymbol';

/** What the numbers of VFrameFormat mean where the file does not define them. */
const FRAME_FORMATS: ReadonlyMap<number, string> = new Map([
  [0, 'StandardCAN'],
  [1, 'ExtendedCAN'],
  [3, 'J1939PG'],
  [14, 'StandardCAN_FD'],
  [15, 'ExtendedCAN_FD'],
]);

const NAME = new RegExp(`^[A-Za-z0-9_]{1,${MAX_NAME_CHARACTERS}}$`);

type Value = number | string;

class AttributeSetter {
  readonly #drafts: Drafts;
  readonly #faults: FaultList;
  readonly #choices = new Map<string, readonly string[]>();

  constructor(drafts: Drafts, statements: readonly Statement[], faults: FaultList) {
    this.#drafts = drafts;
    this.#faults = faults;
    for (const statement of statements) {
      if (statement.kind === 'attributeDefinition') {
        this.#choices.set(statement.name, statement.choices);
      }
    }
  }

  /** A default holds for every message; long names have none worth using. */
  setDefault(name: string, value: Value, offset: number): void {
    if (name !== CYCLE_TIME && name !== FRAME_FORMAT) return;
    for (const message of this.#drafts.messages.values()) {
      // The value is the same for all: one fault is enough.
      if (!this.#setOfMessage(message, name, value, offset)) return;
    }
  }

  set({ name, target, value, offset }: AttributeStatement): void {
    if (target.kind === 'message') {
      const message = findMessage(this.#drafts, target.rawId, offset, this.#faults);
      if (message !== undefined) this.#setOfMessage(message, name, value, offset);
    } else if (target.kind === 'signal') {
      const found = findSignal(this.#drafts, target, offset, this.#faults);
      if (found === undefined || name !== LONG_SIGNAL_NAME) return;
      const { signals, longNames } = found.message;
      if (value === found.signal.statement.name) return;
      const taken = signals.has(String(value)) || longNames.has(String(value));
      if (!this.#isUsableName(name, value, taken, offset)) return;
      longNames.add(value);
      found.signal.name = value;
    }
  }

  /** False when the value cannot be used. */
  #setOfMessage(message: MessageDraft, name: string, value: Value, offset: number): boolean {
    if (name === CYCLE_TIME) return this.#setCycle(message, value, offset);
    if (name === FRAME_FORMAT) {
      const format = this.#choice(name, value);
      message.isFd = format.endsWith('CAN_FD');
    } else if (name === LONG_MESSAGE_NAME) {
      if (value === message.statement.name) return true;
      const { messageNames } = this.#drafts;
      if (!this.#isUsableName(name, value, messageNames.has(String(value)), offset)) return false;
      messageNames.add(value);
      message.name = value;
    }
    return true;
  }

  #setCycle(message: MessageDraft, value: Value, offset: number): boolean {
    if (typeof value === 'string' || !Number.isFinite(value) || value < 0) {
      this.#faultValue(CYCLE_TIME, value, 'must be a number of milliseconds from 0', offset);
      return false;
    }
    message.cycleMs = value === 0 ? undefined : value;
    return true;
  }

  /** Enums are written by number or by text. */
  #choice(name: string, value: Value): string {
    if (typeof value === 'string') return value;
    return this.#choices.get(name)?.[value] ?? FRAME_FORMATS.get(value) ?? '';
  }

  #isUsableName(name: string, value: Value, taken: boolean, offset: number): value is string {
    if (typeof value !== 'string' || !NAME.test(value)) {
      const rule = `must be 1 to ${MAX_NAME_CHARACTERS} letters, digits and "_"`;
      this.#faultValue(name, value, rule, offset);
      return false;
    }
    if (taken) this.#faultValue(name, value, 'is taken; the short name is kept', offset);
    return !taken;
  }

  #faultValue(name: string, value: Value, rule: string, offset: number): void {
    this.#faults.add(offset, 'DBC_ATTRIBUTE_INVALID', { name, value, rule });
  }
}

/**
 * Cycle times, CAN FD and long names. A long name must differ from every short and long name in its
 * scope, else the short one is kept: names stay unique whatever the file says.
 *
 * Defaults first, then what is said of single objects.
 */
export function applyAttributes(
  drafts: Drafts,
  statements: readonly Statement[],
  faults: FaultList,
): void {
  const setter = new AttributeSetter(drafts, statements, faults);
  for (const statement of statements) {
    if (statement.kind === 'attributeDefault') {
      setter.setDefault(statement.name, statement.value, statement.offset);
    }
  }
  for (const statement of statements) {
    if (statement.kind === 'attribute') setter.set(statement);
  }
}
