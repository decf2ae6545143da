import type { FaultList } from './fault-list.ts';
import type { MessageDraft, SignalDraft } from './drafts.ts';
import { loseSignal } from './drafts.ts';
import type { MultiplexCondition } from './model.ts';

/** The widest selector whose value a double holds exactly. */
const MAX_SELECTOR_BITS = 53;

/** By short name; a signal without an entry is always present. */
export type Conditions = ReadonlyMap<string, MultiplexCondition>;

/**
 * When each multiplexed signal of a message is present. SG_MUL_VAL_ names selector and ranges; without
 * it, `m3` means value 3 of the message's only `M`.
 *
 * A signal whose selector does not exist, cannot be one, or hangs (over others) on itself is taken out
 * of the message with a fault. Conditions still name selectors by their short names.
 */
export function resolveMultiplexing(message: MessageDraft, faults: FaultList): Conditions {
  const conditions = new Map<string, MultiplexCondition>();
  const roots = [...message.signals.values()].filter(isRoot);
  for (const draft of message.signals.values()) {
    const { name, page, offset } = draft.statement;
    if (draft.multiplex !== undefined) {
      const { selector, ranges } = draft.multiplex;
      conditions.set(name, { selector, ranges });
    } else if (page !== undefined) {
      const [root] = roots;
      if (root === undefined || roots.length > 1) {
        const detail = `it is on page m${page}, but the message has ${roots.length} signals marked M`;
        loseSignal(message, draft.statement, detail, faults, offset);
      } else {
        conditions.set(name, { selector: root.statement.name, ranges: [[page, page]] });
      }
    }
  }
  loseUnreachable(message, conditions, faults);
  return conditions;
}

const isRoot = ({ statement, multiplex }: SignalDraft): boolean =>
  statement.isSelector && statement.page === undefined && multiplex === undefined;

/** Grows the set of signals that can be decoded from the unconditional ones; the rest has a fault. */
function loseUnreachable(
  message: MessageDraft,
  conditions: ReadonlyMap<string, MultiplexCondition>,
  faults: FaultList,
): void {
  const dependents = Map.groupBy(conditions.keys(), (name) => conditions.get(name)?.selector ?? '');
  const reached = [...message.signals.keys()].filter((name) => !conditions.has(name));
  const reachable = new Set(reached);
  for (const name of reached) {
    if (!canSelect(message.signals.get(name))) continue;
    // `reached` grows while it is walked; each name enters once, so the walk ends.
    for (const dependent of dependents.get(name) ?? []) {
      reachable.add(dependent);
      reached.push(dependent);
    }
  }
  for (const [name, draft] of message.signals) {
    if (reachable.has(name)) continue;
    const offset = (draft.multiplex ?? draft.statement).offset;
    const selector = conditions.get(name)?.selector ?? '';
    const detail = selectorFault(message, selector);
    loseSignal(message, draft.statement, detail, faults, offset);
  }
}

function canSelect(draft: SignalDraft | undefined): boolean {
  if (draft === undefined || draft.statement.bitLength > MAX_SELECTOR_BITS) return false;
  return draft.valueType === 'unsigned' || draft.valueType === 'signed';
}

function selectorFault(message: MessageDraft, selector: string): string {
  const draft = message.signals.get(selector);
  if (draft === undefined) {
    return `its selector "${selector}" is no signal of the message`;
  }
  if (!canSelect(draft)) {
    return `its selector "${selector}" is no integer of at most ${MAX_SELECTOR_BITS} bits`;
  }
  return `its selector "${selector}" depends on it or cannot be decoded`;
}
