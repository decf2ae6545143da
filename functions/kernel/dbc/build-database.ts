import { annotateDrafts } from './annotate-drafts.ts';
import { applyAttributes } from './apply-attributes.ts';
import type { MessageDraft, SignalDraft } from './drafts.ts';
import { collectDrafts } from './drafts.ts';
import type { FaultList } from './fault-list.ts';
import type { Database, Message, MultiplexCondition, Signal } from './model.ts';
import { resolveMultiplexing } from './multiplexing.ts';
import type { Statement } from './statements.ts';

function finishSignal(draft: SignalDraft, multiplex: MultiplexCondition | undefined): Signal {
  const { startBit, bitLength, byteOrder, factor, addend, min, max, unit } = draft.statement;
  const { name, valueType, labels, comment } = draft;
  const scale = { factor, offset: addend, min, max, unit };
  const layout = { startBit, bitLength, byteOrder, valueType };
  return { name, ...layout, ...scale, comment, isSelector: false, multiplex, labels };
}

function finishMessage(draft: MessageDraft, faults: FaultList): Message {
  const conditions = resolveMultiplexing(draft, faults);
  const selectors = new Set([...conditions.values()].map(({ selector }) => selector));
  const signals = [...draft.signals].map(([shortName, signal]): Signal => {
    const condition = conditions.get(shortName);
    const selector = draft.signals.get(condition?.selector ?? '')?.name ?? '';
    const multiplex = condition && { selector, ranges: condition.ranges };
    const isSelector = signal.statement.isSelector || selectors.has(shortName);
    return { ...finishSignal(signal, multiplex), isSelector };
  });
  const { name, id, extended, comment, isFd, cycleMs } = draft;
  const { byteLength, transmitter } = draft.statement;
  return { name, id, extended, byteLength, isFd, transmitter, comment, cycleMs, signals };
}

/** Looks up what the statements refer to. Messages and signals keep the order of the file. */
export function buildDatabase(statements: readonly Statement[], faults: FaultList): Database {
  const drafts = collectDrafts(statements, faults);
  annotateDrafts(drafts, statements, faults);
  applyAttributes(drafts, statements, faults);
  const messages = [...drafts.messages.values()].map((draft) => finishMessage(draft, faults));
  const version = statements.find((statement) => statement.kind === 'version')?.version ?? '';
  return { version, messages, faults: faults.list() };
}
