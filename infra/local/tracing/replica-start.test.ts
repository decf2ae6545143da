import { expect, test } from 'vitest';
import { startParts, waitStretches, type ReplicaStart } from './replica-start.ts';

const START: ReplicaStart = {
  replica: 'export-1',
  decidedMs: 10,
  spawnedMs: 15,
  bootedMs: 40,
  loadedMs: 70,
  listeningMs: 90,
  readyMs: 95,
};

const waited = (fromMs: number, untilMs: number) => [
  { waitFor: 'activator' as const, fromMs, untilMs },
];

test('a wait for a replica that starts: cold from the decision until it is ready', () => {
  expect(waitStretches(waited(0, 100), START)).toEqual([
    { phase: 'activator', fromMs: 0, untilMs: 10 },
    { phase: 'coldStart', fromMs: 10, untilMs: 95 },
    { phase: 'activator', fromMs: 95, untilMs: 100 },
  ]);
});

test('a wait that begins in the middle of a start is cold for the rest of it', () => {
  const stretches = waitStretches(waited(60, 95), START);
  expect(stretches).toEqual([{ phase: 'coldStart', fromMs: 60, untilMs: 95 }]);
  expect(startParts(START, stretches, 50)).toEqual([
    { phase: 'load', fromUs: 10_000, lengthUs: 10_000 },
    { phase: 'listen', fromUs: 20_000, lengthUs: 20_000 },
    { phase: 'notice', fromUs: 40_000, lengthUs: 5_000 },
  ]);
});

test('a wait for a place at a replica that has long been ready is no cold start', () => {
  expect(waitStretches(waited(95, 120), START)).toEqual([
    { phase: 'activator', fromMs: 95, untilMs: 120 },
  ]);
  expect(waitStretches(waited(0, 5), undefined)).toEqual([
    { phase: 'activator', fromMs: 0, untilMs: 5 },
  ]);
});

test('a wait in the queue-proxy is no cold start, whatever the replica did then', () => {
  expect(waitStretches([{ waitFor: 'queue', fromMs: 0, untilMs: 50 }], START)).toEqual([
    { phase: 'queue', fromMs: 0, untilMs: 50 },
  ]);
});

test('the parts of a start add up to it; without word from the process it is boot and listen', () => {
  const cold = [{ phase: 'coldStart' as const, fromMs: 10, untilMs: 95 }];
  const sum = (start: ReplicaStart) =>
    startParts(start, cold, 0).reduce((us, { lengthUs }) => us + lengthUs, 0);
  expect(startParts(START, cold, 0).map(({ phase }) => phase)).toEqual([
    'wait',
    'boot',
    'load',
    'listen',
    'notice',
  ]);
  expect(sum(START)).toBe(85_000);
  const silent = { ...START, bootedMs: null, loadedMs: null };
  expect(startParts(silent, cold, 0).map(({ phase }) => phase)).toEqual([
    'wait',
    'listen',
    'notice',
  ]);
  expect(sum(silent)).toBe(85_000);
});
