import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parquetTable } from '#functions/export/parquet-table.ts';
import { sessionPlots } from './session-plots.ts';
import type { PhysicalColumn } from '#functions/export/physical-column.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tachograph-plots-'));
  await mkdir(join(folder, 'recorded'));
});
afterEach(() => rm(folder, { recursive: true }));

interface TestSignal {
  readonly signal: string;
  readonly unit: string;
  readonly factor: number;
  readonly offset: number;
}

/** A file as export writes it: three rows from `startUs` on, 100 ms apart, the second absent. */
async function write(
  message: string,
  values: 'physical' | 'raw',
  startUs: number,
  signal: TestSignal,
): Promise<void> {
  const column: PhysicalColumn = {
    name: signal.signal,
    type: 'int32',
    values: Int32Array.of(10, 0, 30),
    present: Uint8Array.of(1, 0, 1),
  };
  const times = Float64Array.of(startUs, startUs + 100_000, startUs + 200_000);
  const bytes = parquetTable(times, [column], {
    effort: 'compact',
    createdBy: 'test',
    metadata: [
      { key: 'tachograph.message', value: message },
      { key: 'tachograph.values', value: values },
      { key: 'tachograph.signals', value: JSON.stringify([{ column: signal.signal, ...signal }]) },
    ],
  });
  await writeFile(join(folder, 'recorded', `can0-${message}.parquet`), bytes);
}

const START_US = 1_767_600_000_000_000;

test('sessionPlots of exported files: physical values over one time axis, absent as NaN', async () => {
  const speed = { signal: 'SPEED', unit: 'km/h', factor: 0.5, offset: 1 };
  await write('SPEED', 'raw', START_US, speed);
  const angle = { signal: 'STEER_ANGLE', unit: 'deg', factor: 0.5, offset: 1 };
  await write('STEER', 'physical', START_US + 50_000, angle);
  const plots = await sessionPlots(folder);
  expect(plots.map(({ title, unit }) => `${title} ${unit}`)).toEqual([
    'Speed km/h',
    'Steering angle deg',
  ]);
  const [first, second] = plots.map(({ series }) => series[0]);
  expect(Array.from(first?.times ?? [])).toEqual([0, 0.1, 0.2]);
  // Raw 10 and 30 with factor 0.5 and offset 1; the other file holds physical values already.
  expect(Array.from(first?.values ?? [])).toEqual([6, Number.NaN, 16]);
  expect(second?.times[0]).toBe(0.05);
  expect(second?.values[0]).toBe(10);
});

test('sessionPlots without a known name: the signal that varies', async () => {
  await write('M', 'physical', START_US, { signal: 'HEAT', unit: '', factor: 1, offset: 0 });
  expect((await sessionPlots(folder)).map(({ title }) => title)).toEqual(['M.HEAT']);
});

test('sessionPlots of a session without Parquet files: none', async () => {
  expect(await sessionPlots(folder)).toEqual([]);
  expect(await sessionPlots(join(folder, 'nothing'))).toEqual([]);
});
