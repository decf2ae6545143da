import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { choosePreferred, chooseVarying } from './choose-signals.ts';
import { firstTimeUs, readSignal, signalsOf } from './read-signals.ts';
import type { PlotChoice } from './choose-signals.ts';
import type { LinePlot } from './line-plot.ts';
import type { SignalSource } from './read-signals.ts';

/** Plots of signals chosen for their variation, where none of the preferred names is there. */
const MAX_VARYING = 3;
/** Files larger than this together are not searched for varying signals. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;

/** Plots of a session's `recorded` set; none where it has no Parquet file. */
export async function sessionPlots(folder: string): Promise<readonly LinePlot[]> {
  const files = await parquetFiles(join(folder, 'recorded'));
  const signals: SignalSource[] = [];
  for (const path of files) signals.push(...(await signalsOf(path)));
  const choices = choosePreferred(signals);
  const chosen = choices.length > 0 ? choices : await varyingSignals(files, signals);
  const originUs = await originOf(chosen);
  const plots: LinePlot[] = [];
  for (const choice of chosen) plots.push(await plotOf(choice, originUs));
  return plots;
}

async function parquetFiles(folder: string): Promise<readonly string[]> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const paths = names.filter((name) => name.endsWith('.parquet')).sort();
  return paths.map((name) => join(folder, name));
}

async function varyingSignals(
  files: readonly string[],
  signals: readonly SignalSource[],
): Promise<readonly PlotChoice[]> {
  const sizes = await Promise.all(files.map(async (path) => (await stat(path)).size));
  if (sizes.reduce((sum, size) => sum + size, 0) > MAX_SEARCHED_BYTES) return [];
  const read: { source: SignalSource; values: Float64Array }[] = [];
  for (const source of signals) {
    read.push({ source, values: (await readSignal(source, 0)).values });
  }
  return chooseVarying(read, MAX_VARYING);
}

/** All plots of a session share their time axis: it starts at the earliest row shown. */
async function originOf(choices: readonly PlotChoice[]): Promise<number> {
  const paths = new Set(choices.flatMap(({ signals }) => signals.map(({ path }) => path)));
  const firsts = await Promise.all([...paths].map((path) => firstTimeUs(path)));
  return Math.min(...firsts.filter((us) => us !== undefined));
}

async function plotOf({ title, signals }: PlotChoice, originUs: number): Promise<LinePlot> {
  const series = [];
  for (const source of signals) {
    series.push({ name: source.signal, ...(await readSignal(source, originUs)) });
  }
  return { title, unit: signals[0]?.unit ?? '', series };
}
