import { type Calibration, differencesText } from '#kernel/calibration/calibration.ts';
import {
  calibrationPath,
  type CalibrationReading,
  readCalibration,
  readLocalStepsPerMs,
  writeCalibration,
} from '#kernel/calibration/calibration-file.ts';
import { unreachable } from '#kernel/core/assert.ts';
import { machineKey } from '#kernel/calibration/machine-key.ts';
import { createKernel } from '#kernel/demand/wasm-kernel.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { allMet } from '#loadtest/calibration/accuracy-row.ts';
import { measureAccuracy } from '#loadtest/calibration/measure-accuracy.ts';
import { tableLines } from '#loadtest/calibration/accuracy-lines.ts';
import { startNeighbours } from '#loadtest/calibration/busy-neighbours.ts';
import { calibrate } from '#loadtest/calibration/calibrate.ts';
import { calibrationLines } from '#loadtest/calibration/calibration-lines.ts';
import { readDisturbanceCounters } from '#loadtest/calibration/machine-disturbance.ts';
import { startStand } from '#loadtest/calibration/stand-thread.ts';
import type { Verb, VerbContext } from './verb.ts';

/** `tachograph calibrate`. */
export const calibrateVerb: Verb = {
  name: 'calibrate',
  summary: 'measures how fast and how exactly this machine burns CPU time',
  details: [
    'Half a second of CPU time. Verdict ok, noisy (something else used the CPU; the reasons say what)',
    'or coarse-clock (no clock here can end a burst in time; exit code 1, nothing is stored).',
    'Demands with rate=local need the stored file; all others work without. See docs/demand.md.',
    '--table takes about three minutes: bias and CV of bursts of 1 to 1000 ms, alone and beside two busy',
    'loops, next to what is commonly done instead. Exit code 1 when the product misses its bounds.',
  ],
  options: {
    file: {
      kind: 'text',
      value: 'PATH',
      about: 'where the calibration is kept (default: calibration.json beside the state of "up")',
    },
    check: { kind: 'flag', about: 'only says whether the stored calibration can be used here' },
    table: { kind: 'flag', about: 'measures and prints the accuracy table; stores nothing' },
  },
  async run(context) {
    if (context.flag('check')) return checkStored(context);
    return context.flag('table') ? printTable(context) : calibrateAndStore(context);
  },
};

const fileOf = (context: VerbContext): string =>
  context.option('file') ?? calibrationPath(context.home);

async function calibrateAndStore(context: VerbContext): Promise<number> {
  const { terminal, signal } = context;
  const file = fileOf(context);
  const key = machineKey(createKernel().sha256);
  const stand = await startStand(systemClock, signal);
  let calibration: Calibration;
  try {
    calibration = await calibrate(stand, {
      key,
      clock: systemClock,
      readCounters: readDisturbanceCounters,
    });
  } finally {
    await stand.close();
  }
  const { rate, spread } = calibration;
  if (rate !== null && spread !== null) {
    const warning = replacementNote(file, await readCalibration(file, key));
    if (warning !== undefined) terminal.note(warning);
    await writeCalibration(file, { ...calibration, rate, spread }, process.pid);
  }
  terminal.document({ ...calibration, file: rate === null ? null : file });
  for (const line of calibrationLines(calibration)) terminal.print(line);
  terminal.print('');
  terminal.print(rate === null ? 'Nothing was stored.' : `calibration  ${file}`);
  return rate === null ? 1 : 0;
}

/** What is said when a calibration takes the place of one that could not be used. */
function replacementNote(file: string, reading: CalibrationReading): string | undefined {
  switch (reading.kind) {
    case 'corrupt':
      return `Warning: ${file} was not a calibration (${reading.detail}); it is replaced`;
    case 'stale':
      return `Replacing ${file}, made elsewhere: ${differencesText(reading.differences)}`;
    case 'absent':
    case 'valid':
      return undefined;
    default:
      return unreachable(reading);
  }
}

async function checkStored(context: VerbContext): Promise<number> {
  const file = fileOf(context);
  const key = machineKey(createKernel().sha256);
  const stepsPerMs = await readLocalStepsPerMs(file, key);
  context.terminal.document({ file, usable: true, stepsPerMs, key });
  context.terminal.print(`${file} can be used here: ${Math.round(stepsPerMs)} steps a CPU-ms.`);
  return 0;
}

async function printTable({ terminal, signal }: VerbContext): Promise<number> {
  const table = await measureAccuracy({
    startStand: () => startStand(systemClock, signal),
    startNeighbours,
    onProgress: (line) => terminal.progress(line),
  });
  const met = allMet(table);
  terminal.document({ met, ...table });
  for (const line of tableLines(table)) terminal.print(line);
  terminal.print('');
  terminal.print(met ? 'All bounds are met.' : 'Not all bounds are met.');
  return met ? 0 : 1;
}
