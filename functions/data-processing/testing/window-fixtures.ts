import type { Batch, FrameGroup, FrameKind } from '#kernel/batch/batch.ts';
import type { StoredColumn, StoredTable } from '#kernel/columns/stored-table.ts';
import { must } from '#kernel/core/assert.ts';
import { compileDatabase } from '#kernel/dbc/message-decoder.ts';
import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import type { WindowInput } from '../window-input.ts';

/**
 * A small database: MOTION with scaled, whole, labelled and signed signals, ODO with one of 64 bits, MUX
 * with a selector and two pages, one of them a float.
 */
export const DBC = `VERSION ""
BU_: ECU
BO_ 100 MOTION: 4 ECU
 SG_ SPEED : 7|8@0+ (0.5,0) [0|120] "km/h" ECU
 SG_ COUNT : 8|8@1+ (1,0) [0|0] "" ECU
 SG_ GEAR : 16|2@1+ (1,0) [0|3] "" ECU
 SG_ TEMP : 24|8@1- (0.5,-40) [-60|20] "C" ECU
BO_ 200 ODO: 8 ECU
 SG_ DISTANCE : 0|64@1+ (0.001,0) [0|0] "m" ECU
BO_ 300 MUX: 5 ECU
 SG_ PAGE M : 0|8@1+ (1,0) [0|0] "" ECU
 SG_ PRESSURE m0 : 8|8@1+ (0.1,0) [0|0] "bar" ECU
 SG_ FLOW m1 : 8|32@1- (1,0) [0|0] "l" ECU
VAL_ 100 GEAR 0 "P" 1 "D" 3 "SNA" ;
SIG_VALTYPE_ 300 FLOW : 1;
`;

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export const DECODER = compileDatabase(parseDbc(bytesOf(DBC)));

export interface TestFrame {
  readonly timeUs: number;
  readonly id: number;
  readonly data: readonly number[];
  readonly bus?: string;
  readonly kind?: FrameKind;
  readonly extended?: boolean;
}

/** Frames in their recorded order as groups, as a vehicle would send them. */
function groupsOf(frames: readonly TestFrame[]): FrameGroup[] {
  const groups = new Map<string, TestFrame[]>();
  for (const frame of frames) {
    const key = JSON.stringify([frame.bus, frame.id, frame.kind, frame.extended]);
    groups.set(key, [...(groups.get(key) ?? []), frame]);
  }
  return Array.from(groups.values(), (group) => {
    const { bus = 'can0', id, kind = 'data', extended = false } = must(group[0], 'first frame');
    return {
      bus,
      id,
      extended,
      kind,
      timeUs: Float64Array.from(group, (frame) => frame.timeUs),
      lengths: Uint8Array.from(group, (frame) => frame.data.length),
      payload: Uint8Array.from(group.flatMap((frame) => frame.data)),
    };
  });
}

export function batchOf(
  seq: number,
  fromUs: number,
  untilUs: number,
  frames: readonly TestFrame[],
): Batch {
  const recorded = frames.length;
  return {
    vehicle: 'v1',
    session: 's1',
    seq,
    campaign: 'c1',
    campaignVersion: 1,
    fromUs,
    untilUs,
    clock: { monotonicUs: fromUs, wallUs: 1_700_000_000_000_000 + fromUs, source: 'gnss' },
    end: false,
    counts: { seen: recorded, matched: recorded, recorded, dropped: {} },
    groups: groupsOf(frames),
  };
}

/** One second of one batch, unless said otherwise. */
export function inputOf(
  frames: readonly TestFrame[],
  change: Partial<WindowInput> = {},
): WindowInput {
  return {
    fromUs: 0,
    untilUs: 1_000_000,
    batches: [batchOf(0, 0, 1_000_000, frames)],
    signals: [],
    resample: { rasterMs: 100, method: 'hold', maxHoldMs: 500 },
    decoders: new Map([['can0', DECODER]]),
    ...change,
  };
}

export const motion = (
  timeUs: number,
  speed: number,
  rest: readonly number[] = [0, 0, 0],
): TestFrame => ({ timeUs, id: 100, data: [speed, ...rest] });

export function columnOf(
  tables: readonly StoredTable[],
  message: string,
  name: string,
): StoredColumn & { readonly timeUs: Float64Array } {
  const table = must(
    tables.find((one) => one.message.name === message),
    `table ${message}`,
  );
  const column = must(
    table.columns.find((one) => one.name === name),
    `column ${name}`,
  );
  return { ...column, timeUs: table.timeUs };
}

/** Cells as [time in ms, raw value], present ones only. */
export const cellsOf = (
  tables: readonly StoredTable[],
  message: string,
  name: string,
): [number, number | bigint][] => {
  const { timeUs, values, present } = columnOf(tables, message, name);
  return Array.from(timeUs, (time, row): [number, number | bigint] => [
    time / 1_000,
    must(values[row], 'value of a cell'),
  ]).filter((_, row) => present[row] === 1);
};
