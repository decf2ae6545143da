import { expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { memoryStore } from '../store/memory-store.ts';
import { openStageDemand } from './open-demand.ts';
import { DONE, type StageDefinition } from './stage.ts';

const context = { clock: new VirtualClock(), store: memoryStore() };
const plain: StageDefinition = { name: 'export', consumes: ['known'], handle: async () => DONE };
const definition: StageDefinition = { ...plain, emulate: async () => DONE };

const open = (demand: string, stage: StageDefinition = definition) =>
  openStageDemand(
    { demand, demandPlacement: { workers: 2 }, demandSeed: 7, demandCalibration: '' },
    stage,
    context,
    'export-1-2',
  );

test('openStageDemand says what it executes in its canonical form', async () => {
  const demand = await open(' delay:20ms@after   payload:2KiB@instead ');
  expect(demand.settings).toEqual({
    demand: 'delay:20ms@after payload:2KiB@instead',
    placement: 'workers:2',
    seed: 7,
  });
  expect(demand.has('before')).toBe(false);
  expect(demand.has('after')).toBe(true);
  expect(demand.has('instead')).toBe(true);
  await demand.close();
});

test.each([
  ['delay:20ms@after cpuTime:-1ms@before', 'column 26'],
  ['cpuTime:50ms@beside', 'column 14'],
])('openStageDemand of %s: refused with the place of the fault', async (text, where) => {
  await expect(open(text)).rejects.toThrow(where);
});

test('openStageDemand with "instead" at a stage that can do nothing in its place', async () => {
  const opened = open('delay:1ms@instead', { ...plain, name: 'device-communication' });
  await expect(opened).rejects.toThrow('is of no use for device-communication');
});

test('openStageDemand with rate=local and no calibration: says what to do', async () => {
  await expect(open('work:1ms@before;rate=local')).rejects.toThrow('tachograph calibrate');
});
