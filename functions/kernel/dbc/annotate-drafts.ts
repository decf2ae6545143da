import type { Drafts, MessageDraft, SignalDraft } from './drafts.ts';
import { loseSignal, messageKey } from './drafts.ts';
import type { FaultList } from './fault-list.ts';
import type { Labels } from './model.ts';
import type {
  CommentStatement,
  LabelsStatement,
  MultiplexStatement,
  Statement,
  ValueTypeStatement,
} from './statements.ts';

/** The message, or a fault at `offset`; neither for one that has been left out already. */
export function findMessage(
  drafts: Drafts,
  rawId: number,
  offset: number,
  faults: FaultList,
): MessageDraft | undefined {
  const key = messageKey(rawId);
  const message = drafts.messages.get(key);
  if (message === undefined && !drafts.lostMessages.has(key)) {
    faults.add(offset, 'DBC_REFERENCE_UNKNOWN', { what: `a message with id ${rawId}` });
  }
  return message;
}

interface SignalReference {
  readonly rawId: number;
  readonly signal: string;
}

interface FoundSignal {
  readonly message: MessageDraft;
  readonly signal: SignalDraft;
}

/** As findMessage. */
export function findSignal(
  drafts: Drafts,
  reference: SignalReference,
  offset: number,
  faults: FaultList,
): FoundSignal | undefined {
  const message = findMessage(drafts, reference.rawId, offset, faults);
  if (message === undefined) return undefined;
  const signal = message.signals.get(reference.signal);
  if (signal !== undefined) return { message, signal };
  if (!message.lostSignals.has(reference.signal)) {
    const what = `a signal "${reference.signal}" in the message "${message.name}"`;
    faults.add(offset, 'DBC_REFERENCE_UNKNOWN', { what });
  }
  return undefined;
}

function applyComment(drafts: Drafts, statement: CommentStatement, faults: FaultList): void {
  const { target, offset, text } = statement;
  if (target.kind === 'message') {
    const message = findMessage(drafts, target.rawId, offset, faults);
    if (message !== undefined) message.comment = text;
  } else if (target.kind === 'signal') {
    const found = findSignal(drafts, target, offset, faults);
    if (found !== undefined) found.signal.comment = text;
  }
}

function applyLabels(
  drafts: Drafts,
  statement: LabelsStatement,
  tables: ReadonlyMap<string, Labels>,
  faults: FaultList,
): void {
  const { labels, offset } = statement;
  const found = findSignal(drafts, statement, offset, faults);
  if (found === undefined) return;
  if (typeof labels !== 'string') {
    found.signal.labels = labels;
    return;
  }
  const table = tables.get(labels);
  if (table !== undefined) found.signal.labels = table;
  else faults.add(offset, 'DBC_REFERENCE_UNKNOWN', { what: `a value table "${labels}"` });
}

const FLOAT_BITS = { float32: 32, float64: 64 } as const;

function applyValueType(drafts: Drafts, statement: ValueTypeStatement, faults: FaultList): void {
  const { valueType, offset } = statement;
  const found = findSignal(drafts, statement, offset, faults);
  if (found === undefined || valueType === 'integer') return;
  const { message, signal } = found;
  const { bitLength } = signal.statement;
  if (bitLength === FLOAT_BITS[valueType]) {
    signal.valueType = valueType;
    return;
  }
  // Read as an integer it would show numbers that mean nothing.
  const detail = `a ${valueType} has ${FLOAT_BITS[valueType]} bits, not ${bitLength}`;
  loseSignal(message, signal.statement, detail, faults, offset);
}

function applyMultiplex(drafts: Drafts, statement: MultiplexStatement, faults: FaultList): void {
  const { offset, selector, ranges } = statement;
  const found = findSignal(drafts, statement, offset, faults);
  if (found === undefined) return;
  const { message, signal } = found;
  const backwards = ranges.find(([first, last]) => first > last);
  if (backwards !== undefined) {
    const detail = `the range ${backwards.join('-')} runs backwards`;
    loseSignal(message, signal.statement, detail, faults, offset);
  } else if (signal.multiplex === undefined) {
    signal.multiplex = statement;
  } else if (signal.multiplex.selector === selector) {
    signal.multiplex = { ...signal.multiplex, ranges: [...signal.multiplex.ranges, ...ranges] };
  } else {
    const detail = `it depends on two selectors, "${signal.multiplex.selector}" and "${selector}"`;
    loseSignal(message, signal.statement, detail, faults, offset);
  }
}

/** Comments, value tables, float types and multiplexing, wherever in the file they are. */
export function annotateDrafts(
  drafts: Drafts,
  statements: readonly Statement[],
  faults: FaultList,
): void {
  const tables = new Map<string, Labels>();
  for (const statement of statements) {
    if (statement.kind === 'labelTable') tables.set(statement.name, statement.labels);
  }
  for (const statement of statements) {
    if (statement.kind === 'comment') applyComment(drafts, statement, faults);
    else if (statement.kind === 'labels') applyLabels(drafts, statement, tables, faults);
    else if (statement.kind === 'valueType') applyValueType(drafts, statement, faults);
    else if (statement.kind === 'multiplex') applyMultiplex(drafts, statement, faults);
  }
}
