import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  calibrationPath,
  judgeCalibrationText,
  MAX_CALIBRATION_BYTES,
  readCalibration,
  readLocalStepsPerMs,
  writeCalibration,
} from './calibration-file.ts';
import { EXAMPLE_CALIBRATION, EXAMPLE_KEY } from './testing/example-calibration.ts';

let home: string;
let file: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'calibration-'));
  file = calibrationPath(join(home, 'new'));
});
afterEach(() => rm(home, { recursive: true }));

const OTHER_NODE = { ...EXAMPLE_KEY, node: 'v24.2.0' };
const text = (change: object): string => JSON.stringify({ ...EXAMPLE_CALIBRATION, ...change });

test('writeCalibration into a folder that is not there: read back whole, no draft left', async () => {
  await writeCalibration(file, EXAMPLE_CALIBRATION, 1);
  expect(await readCalibration(file, EXAMPLE_KEY)).toEqual({
    kind: 'valid',
    calibration: EXAMPLE_CALIBRATION,
  });
  expect(await readdir(join(home, 'new'))).toEqual(['calibration.json']);
});

test('writeCalibration that cannot take the place: rejects, no draft left', async () => {
  // The place is a folder with something in it, which a rename does not replace.
  await writeCalibration(join(file, 'inside'), EXAMPLE_CALIBRATION, 1);
  await expect(writeCalibration(file, EXAMPLE_CALIBRATION, 1)).rejects.toThrow();
  expect(await readdir(join(home, 'new'))).toEqual(['calibration.json']);
});

test('readLocalStepsPerMs: the rate in steps', async () => {
  await writeCalibration(file, EXAMPLE_CALIBRATION, 1);
  expect(await readLocalStepsPerMs(file, EXAMPLE_KEY)).toBeCloseTo(880_000);
});

test('readLocalStepsPerMs without a file: CALIBRATION_MISSING with the remedy', async () => {
  await expect(readLocalStepsPerMs(file, EXAMPLE_KEY)).rejects.toThrow(
    /no calibration .*run "tachograph calibrate"/,
  );
});

test('readLocalStepsPerMs of another Node version: refused with what differs, not used', async () => {
  await writeCalibration(file, EXAMPLE_CALIBRATION, 1);
  await expect(readLocalStepsPerMs(file, OTHER_NODE)).rejects.toThrow(
    /made elsewhere \(node: "v24.1.0" in the file, "v24.2.0" here\)/,
  );
});

test('readLocalStepsPerMs of a file cut short: CALIBRATION_CORRUPT', async () => {
  await writeCalibration(file, EXAMPLE_CALIBRATION, 1);
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, -20));
  await expect(readLocalStepsPerMs(file, EXAMPLE_KEY)).rejects.toMatchObject({
    code: 'CALIBRATION_CORRUPT',
  });
});

test.each(['cpuModel', 'architecture', 'node', 'kernelSha256'] as const)(
  'judgeCalibrationText with another %s: stale, names the field alone',
  (field) => {
    expect(judgeCalibrationText(text({}), { ...EXAMPLE_KEY, [field]: 'other' })).toEqual({
      kind: 'stale',
      differences: [{ field, here: 'other', inFile: EXAMPLE_KEY[field] }],
    });
  },
);

test.each([
  ['nothing', ''],
  ['no object', '3'],
  ['a list', '[]'],
  ['another schema', text({ schema: 'tachograph.summary/1' })],
  ['no key', text({ key: null })],
  ['half a key', text({ key: { node: 'v24.1.0' } })],
  ['a rate of 0', text({ rate: 0 })],
  ['a negative rate', text({ rate: -1 })],
  ['a rate that is no number', text({ rate: '1' })],
  ['no rate', text({ rate: null })],
  ['no spread', text({ spread: null })],
  ['an unknown verdict', text({ verdict: 'fine' })],
  ['a verdict that has no rate', text({ verdict: 'coarse-clock' })],
  ['no reasons', text({ reasons: undefined })],
  ['too much', ' '.repeat(MAX_CALIBRATION_BYTES) + text({})],
])('judgeCalibrationText of %s: corrupt', (_, content) => {
  expect(judgeCalibrationText(content, EXAMPLE_KEY)).toMatchObject({ kind: 'corrupt' });
});
