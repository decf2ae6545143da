import { must } from '#kernel/core/assert.ts';
import type { SignalColumn } from '#kernel/columns/columns.ts';
import { labelOf } from '#kernel/dbc/labels.ts';
import type { Signal } from '#kernel/dbc/model.ts';
import { physicalValue } from '#kernel/dbc/message-decoder.ts';
import type { SignalQuality } from '#kernel/facts/facts.ts';
import { type DecodedWindow, ownRows } from './decode.ts';

/**
 * Looks at every decoded value of the window and says what is suspicious. Nothing is changed or deleted:
 * what a value means is the user's decision, and a deleted sample could not be told from a lost one.
 */
export function cleanse(window: DecodedWindow): SignalQuality[] {
  return window.tables
    .map(ownRows)
    .filter((table) => table.timeUs.length > 0)
    .flatMap(({ bus, message, columns }) =>
      columns.map((column) => ({
        bus,
        message: message.name,
        signal: column.signal.name,
        ...columnQuality(column),
      })),
    );
}

type Finding = Pick<SignalQuality, 'samples' | 'outOfRange' | 'notAvailable' | 'constant'>;

function columnQuality({ signal, values, present }: SignalColumn): Finding {
  let samples = 0;
  let outOfRange = 0;
  let notAvailable = 0;
  let changes = 0;
  let previous: number | bigint | undefined;
  for (let row = 0; row < present.length; row++) {
    if (present[row] !== 1) continue;
    const raw = must(values[row], 'value of a present row');
    samples += 1;
    if (previous !== undefined && !Object.is(raw, previous)) changes += 1;
    previous = raw;
    if (isNotAvailable(signal, raw)) notAvailable += 1;
    else if (isOutOfRange(signal, raw)) outOfRange += 1;
  }
  // One sample is no evidence of being stuck.
  return { samples, outOfRange, notAvailable, constant: samples >= 2 && changes === 0 };
}

/** A DBC without limits says [0|0]; any min that is not below max states nothing. */
function isOutOfRange(signal: Signal, raw: number | bigint): boolean {
  if (signal.min >= signal.max) return false;
  const physical = physicalValue(signal, raw);
  return physical < signal.min || physical > signal.max;
}

/** Labels that say "signal not available", as DBC authors write it. */
const NOT_AVAILABLE_LABEL = /^(?:.*[^a-z])?(?:sna|n\/?a|(?:not|un)[ _-]?available)(?:[^a-z].*)?$/i;

/**
 * A code that stands for "no value", not a measured value:
 * - its label says so, whatever the width (3 = "SNA");
 * - all bits of an unsigned signal of 8 bits or more are set, and that lies outside the signal's limits
 *   (255 of [0|250], as J1939 has it; 255 of [0|255] is a value, and narrow signals use all codes);
 * - a float is NaN.
 * Such a sample is counted here and not as out of range.
 */
export function isNotAvailable(signal: Signal, raw: number | bigint): boolean {
  if (Number.isNaN(raw)) return true;
  const label = labelOf(signal.labels, raw);
  if (label !== undefined && NOT_AVAILABLE_LABEL.test(label)) return true;
  return (
    signal.valueType === 'unsigned' &&
    signal.bitLength >= 8 &&
    BigInt(raw) === (1n << BigInt(signal.bitLength)) - 1n &&
    isOutOfRange(signal, raw)
  );
}
