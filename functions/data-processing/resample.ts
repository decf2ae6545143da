import { assert, must } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { MAX_CELLS } from '#kernel/columns/block-format.ts';
import type { SignalColumn } from '#kernel/columns/columns.ts';
import type { StoredColumn, StoredTable } from '#kernel/columns/stored-table.ts';
import { arrayKind, emptyValues } from '#kernel/columns/value-codec.ts';
import { physicalValue } from '#kernel/dbc/message-decoder.ts';
import type { Signal } from '#kernel/dbc/model.ts';
import type { DecodedTable, DecodedWindow } from './decode.ts';
import { maxHoldUs, type WindowInput } from './window-input.ts';

type Grid = Pick<WindowInput, 'fromUs' | 'untilUs' | 'resample'>;

/**
 * The window on the session's raster: points at k * rasterMs of the session's time, so that all windows
 * and all messages share one grid. A point has no cell where no sample is near enough (never before the
 * first sample); a row without any cell is left out.
 *
 * `hold` cells are those of points with fromUs <= p < untilUs. A `linear` cell at p, between the samples at
 * a and b, is made by the window in which b lies, since that window alone knows both: it may lie up to
 * maxHoldMs before fromUs. Each cell has thus one window, and mergeRaster of all windows equals the
 * resampling of the whole session. Throws BLOCK_TOO_LARGE when the rows would not fit a block.
 */
export function resample(window: DecodedWindow, grid: Grid): StoredTable[] {
  const rasterUs = grid.resample.rasterMs * 1_000;
  assert(Number.isInteger(rasterUs) && rasterUs > 0, `resample at every ${rasterUs} µs`);
  let cells = 0;
  return window.tables.flatMap((decoded) => {
    const columns = decoded.table.columns;
    const linear = columns.some(({ signal }) => isLinear(signal, grid));
    const points = gridPoints(grid, rasterUs, linear);
    cells += points.count * (columns.length + 1);
    if (cells > MAX_CELLS) {
      throw new TachographError('BLOCK_TOO_LARGE', { what: 'cells', value: cells, max: MAX_CELLS });
    }
    return rasterTable(decoded, grid, points);
  });
}

interface Points {
  readonly firstUs: number;
  readonly stepUs: number;
  readonly count: number;
}

/** Worked: fromUs 1,000,000, untilUs 2,000,000, raster 100 ms: points 1.0 s to 1.9 s; 2.0 s is the next window's. */
function gridPoints({ fromUs, untilUs, resample }: Grid, stepUs: number, linear: boolean): Points {
  const startUs = linear ? Math.max(0, fromUs - maxHoldUs({ resample })) : fromUs;
  const first = Math.ceil(startUs / stepUs);
  const end = Math.ceil(untilUs / stepUs);
  return { firstUs: first * stepUs, stepUs, count: Math.max(0, end - first) };
}

/**
 * Between two values of a scale lies a value; between two gears, counters or states does not. Scaled
 * numbers and floats may be interpolated; labelled values, selectors, single bits and whole numbers are
 * held whatever the campaign says.
 */
export function isLinear(signal: Signal, { resample }: Pick<Grid, 'resample'>): boolean {
  const whole = Number.isInteger(signal.factor) && Number.isInteger(signal.offset);
  const isFloat = signal.valueType === 'float32' || signal.valueType === 'float64';
  return (
    resample.method === 'linear' &&
    signal.labels.size === 0 &&
    !signal.isSelector &&
    signal.bitLength > 1 &&
    (isFloat || !whole)
  );
}

function rasterTable({ table, ownFrom }: DecodedTable, grid: Grid, points: Points): StoredTable[] {
  const columns = table.columns.map((column) =>
    isLinear(column.signal, grid)
      ? linearColumn(column, table.timeUs, ownFrom, grid, points)
      : heldColumn(column, table.timeUs, grid, points),
  );
  const rows: number[] = [];
  for (let row = 0; row < points.count; row++) {
    if (columns.some((column) => column.present[row] === 1)) rows.push(row);
  }
  if (rows.length === 0) return [];
  const { name, id, extended } = table.message;
  return [
    {
      bus: table.bus,
      message: { name, id, extended },
      timeUs: Float64Array.from(rows, (row) => points.firstUs + row * points.stepUs),
      columns: columns.map((column) => pickRows(column, rows)),
    },
  ];
}

function pickRows(column: StoredColumn, rows: readonly number[]): StoredColumn {
  if (rows.length === column.present.length) return column;
  const values = emptyValues(arrayKind(column.values), rows.length);
  const present = new Uint8Array(rows.length);
  for (const [place, row] of rows.entries()) {
    values[place] = must(column.values[row], 'value of a raster row');
    present[place] = must(column.present[row], 'presence of a raster row');
  }
  return { ...column, values, present };
}

/** The newest sample not after the point; of samples with one time, the last recorded. */
function heldColumn(
  { signal, values, present }: SignalColumn,
  timeUs: Float64Array,
  grid: Grid,
  points: Points,
): StoredColumn {
  const held = emptyValues(arrayKind(values), points.count);
  const flags = new Uint8Array(points.count);
  const holdUs = maxHoldUs(grid);
  let next = 0;
  let last = -1;
  for (let row = 0; row < points.count; row++) {
    const pointUs = points.firstUs + row * points.stepUs;
    while (next < timeUs.length && must(timeUs[next], 'time of a sample') <= pointUs) {
      if (present[next] === 1) last = next;
      next += 1;
    }
    if (last === -1 || pointUs < grid.fromUs) continue;
    // With maxHoldMs 500, a sample at 1.0 s holds at 1.5 s (exactly 500 ms old), and no more at 1.500001 s.
    if (pointUs - must(timeUs[last], 'time of the last sample') > holdUs) continue;
    held[row] = must(values[last], 'value of the last sample');
    flags[row] = 1;
  }
  const { name, unit, factor, offset, valueType, bitLength } = signal;
  return { name, unit, factor, offset, valueType, bitLength, values: held, present: flags };
}

/** Physical values on the line between two neighbouring samples that are at most maxHoldMs apart. */
function linearColumn(
  column: SignalColumn,
  timeUs: Float64Array,
  ownFrom: number,
  grid: Grid,
  points: Points,
): StoredColumn {
  const values = new Float64Array(points.count);
  const present = new Uint8Array(points.count);
  const { firstUs, stepUs } = points;
  const holdUs = maxHoldUs(grid);
  let beforeUs = -Infinity;
  let before = 0;
  for (let row = 0; row < timeUs.length; row++) {
    if (column.present[row] !== 1) continue;
    const sampleUs = must(timeUs[row], 'time of a sample');
    const sample = physicalValue(column.signal, must(column.values[row], 'value of a sample'));
    // The last point at or before the sample; all this one makes lie after the sample before it.
    const last = row < ownFrom ? -1 : Math.floor((sampleUs - firstUs) / stepUs);
    for (let point = last; point >= 0; point--) {
      const pointUs = firstUs + point * stepUs;
      const isOnSample = pointUs === sampleUs;
      // Samples 500 ms apart are joined when maxHoldMs is 500; the time between them is never 0 here.
      if (!isOnSample && (pointUs <= beforeUs || sampleUs - beforeUs > holdUs)) break;
      const share = (pointUs - beforeUs) / (sampleUs - beforeUs);
      values[point] = isOnSample ? sample : before + (sample - before) * share;
      present[point] = 1;
    }
    beforeUs = sampleUs;
    before = sample;
  }
  const { name, unit } = column.signal;
  const physical = { factor: 1, offset: 0, valueType: 'float64', bitLength: 64 } as const;
  return { name, unit, ...physical, values, present };
}
