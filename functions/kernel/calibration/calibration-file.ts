import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unreachable } from '../core/assert.ts';
import { TachographError } from '../core/errors.ts';
import { REFERENCE_STEPS_PER_MS } from '../demand/wasm-kernel.ts';
import {
  calibrationFromDocument,
  type CalibrationKey,
  differencesText,
  keyDifferences,
  type KeyDifference,
  type UsableCalibration,
} from './calibration.ts';

/** What there is under a path, for a machine with a given key. */
export type CalibrationReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'corrupt'; readonly detail: string }
  | { readonly kind: 'stale'; readonly differences: readonly KeyDifference[] }
  | { readonly kind: 'valid'; readonly calibration: UsableCalibration };

/** A calibration has about 1 KB: what is far longer is something else. */
export const MAX_CALIBRATION_BYTES = 65_536;

/** Where the state of the command line lives; the same place for every process of one user. */
export const calibrationPath = (home: string): string => join(home, 'calibration.json');

/** Only `valid` may be used. Rejects where the file is there and cannot be read at all. */
export async function readCalibration(
  path: string,
  key: CalibrationKey,
): Promise<CalibrationReading> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'absent' };
    throw error;
  }
  return judgeCalibrationText(text, key);
}

/** The decision of `readCalibration`, on the file's text. */
export function judgeCalibrationText(text: string, key: CalibrationKey): CalibrationReading {
  if (text.length > MAX_CALIBRATION_BYTES) {
    return { kind: 'corrupt', detail: `more than ${MAX_CALIBRATION_BYTES} bytes` };
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Its message would quote the file, whatever is in there.
    return { kind: 'corrupt', detail: 'it is not JSON' };
  }
  const calibration = calibrationFromDocument(document);
  if (calibration === undefined) return { kind: 'corrupt', detail: 'fields are missing or wrong' };
  const differences = keyDifferences(key, calibration.key);
  return differences.length === 0 ? { kind: 'valid', calibration } : { kind: 'stale', differences };
}

/**
 * Kernel steps that this machine does in a CPU-ms, for demands with `rate=local`. Throws
 * CALIBRATION_MISSING, CALIBRATION_STALE with what differs, or CALIBRATION_CORRUPT.
 */
export async function readLocalStepsPerMs(path: string, key: CalibrationKey): Promise<number> {
  const reading = await readCalibration(path, key);
  switch (reading.kind) {
    case 'absent':
      throw new TachographError('CALIBRATION_MISSING', { file: path });
    case 'corrupt':
      throw new TachographError('CALIBRATION_CORRUPT', { file: path, detail: reading.detail });
    case 'stale': {
      const differences = differencesText(reading.differences);
      throw new TachographError('CALIBRATION_STALE', { file: path, differences });
    }
    case 'valid':
      return reading.calibration.rate * REFERENCE_STEPS_PER_MS;
    default:
      return unreachable(reading);
  }
}

/** Written under another name first: a reader sees the whole or nothing. */
export async function writeCalibration(
  path: string,
  calibration: UsableCalibration,
  pid: number,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${pid}`;
  try {
    await writeFile(draft, `${JSON.stringify(calibration, undefined, 2)}\n`);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
