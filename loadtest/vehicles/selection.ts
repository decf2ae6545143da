import { compileDatabase, newColumns, physicalValue } from '#kernel/dbc/message-decoder.ts';
import { must } from '#kernel/core/assert.ts';
import type { DatabaseDecoder, MessageDecoder } from '#kernel/dbc/message-decoder.ts';
import type { SignalColumn } from '#kernel/columns/columns.ts';
import type { Database, Message } from '#kernel/dbc/model.ts';
import type { CampaignDefinition, RecordRule } from '#kernel/facts/campaign.ts';
import type { CanFrame } from '#kernel/canlog/can-frame.ts';

/**
 * Decides for each frame, in order of time, whether the campaign asks for it. It keeps the last
 * recorded values, so one selection serves one session.
 */
export type Selection = (frame: CanFrame) => boolean;

export type CampaignRules = Pick<CampaignDefinition, 'decoders' | 'signals' | 'rawFrames'>;

/** What one signal's rule remembers between frames. */
interface SignalWatch {
  readonly rule: RecordRule;
  readonly column: SignalColumn;
  /** Slot of the session's everyMs grid in which it was recorded last; -1 before the first. */
  slot: number;
  /** Physical value when it was recorded last; NaN before the first. */
  value: number;
}

interface MessageWatch {
  readonly decoder: MessageDecoder;
  readonly columns: SignalColumn[];
  readonly signals: readonly SignalWatch[];
}

/**
 * Compiles a campaign's rules against the decoders of its buses (SHA-256 of the DBC → database).
 *
 * - rawFrames `all` takes every frame; a list takes its (bus, id) pairs, standard and extended.
 * - No signals: every frame of the decoders' messages. Otherwise a frame is taken when at least one
 *   listed signal in it asks for it: `all` always; `everyMs` the first in each slot of the session's
 *   grid; `onChange` when the physical value is further than the dead-band from the one recorded last
 *   (the first value always).
 * - A signal that is absent from the frame (truncated, other selector) asks for nothing. Remote and
 *   error frames carry no signal: only rawFrames takes them.
 * - A bus whose database is not given has no signals.
 */
export function compileSelection(
  campaign: CampaignRules,
  databases: ReadonlyMap<string, Database>,
): Selection {
  if (campaign.rawFrames === 'all') return () => true;
  const rawIds = new Set(
    campaign.rawFrames === 'none' ? [] : campaign.rawFrames.map(({ bus, id }) => `${bus}/${id}`),
  );
  const watches = messageWatches(campaign, databases);
  return (frame) => {
    const isRaw = frame.kind !== 'error' && rawIds.has(`${frame.bus}/${frame.id}`);
    const watch = watches.get(frameKey(frame.bus, frame.id, frame.extended));
    const hasSignals = watch !== undefined && (frame.kind === 'data' || frame.kind === 'fd');
    return hasSignals ? watchRecords(watch, frame, isRaw) : isRaw;
  };
}

const frameKey = (bus: string, id: number, extended: boolean): string =>
  `${bus}/${extended ? 'x' : 's'}${id}`;

function messageWatches(
  campaign: CampaignRules,
  databases: ReadonlyMap<string, Database>,
): ReadonlyMap<string, MessageWatch> {
  const rules = new Map(
    campaign.signals.map(({ bus, name, record }) => [`${bus}/${name}`, record] as const),
  );
  const watches = new Map<string, MessageWatch>();
  for (const [bus, sha256] of Object.entries(campaign.decoders)) {
    const database = databases.get(sha256);
    if (database === undefined) continue;
    const decoders = compileDatabase(database);
    for (const message of database.messages) {
      const watch = watchMessage(message, decoders, (signal) =>
        rules.size === 0 ? { all: true } : rules.get(`${bus}/${message.name}.${signal}`),
      );
      if (watch.signals.length > 0) {
        watches.set(frameKey(bus, message.id, message.extended), watch);
      }
    }
  }
  return watches;
}

function watchMessage(
  message: Message,
  decoders: DatabaseDecoder,
  ruleOf: (signal: string) => RecordRule | undefined,
): MessageWatch {
  const columns = newColumns(message, 1);
  const signals = columns.flatMap((column): SignalWatch[] => {
    const rule = ruleOf(column.signal.name);
    return rule === undefined ? [] : [{ rule, column, slot: -1, value: Number.NaN }];
  });
  const decoder = must(
    decoders.find(message.id, message.extended),
    `the decoder of message ${message.name} is compiled`,
  );
  return { decoder, columns, signals };
}

/** Whether the frame is recorded, and, where it is, what of it is remembered. */
function watchRecords(watch: MessageWatch, frame: CanFrame, isRaw: boolean): boolean {
  watch.decoder.decodeRow(frame.data, 0, frame.data.length, watch.columns, 0);
  const present = watch.signals.filter(({ column }) => column.present[0] === 1);
  const isRecorded = isRaw || present.some((signal) => asks(signal, frame.timeUs));
  if (isRecorded) {
    for (const signal of present) {
      signal.value = valueOf(signal);
      signal.slot = slotOf(signal.rule, frame.timeUs);
    }
  }
  return isRecorded;
}

function asks(signal: SignalWatch, timeUs: number): boolean {
  const { rule } = signal;
  if ('all' in rule) return true;
  if ('everyMs' in rule) return slotOf(rule, timeUs) > signal.slot;
  const moved = Math.abs(valueOf(signal) - signal.value);
  // NaN (nothing recorded yet) is not <= anything, so the first value is always taken.
  return !(moved <= rule.onChange.deadband);
}

/** everyMs = 100: 0 to 99,999 µs are slot 0, 100,000 µs is slot 1. */
const slotOf = (rule: RecordRule, timeUs: number): number =>
  'everyMs' in rule ? Math.floor(timeUs / (rule.everyMs * 1000)) : 0;

const valueOf = ({ column }: SignalWatch): number =>
  physicalValue(column.signal, must(column.values[0], 'a column of one row has a value'));
