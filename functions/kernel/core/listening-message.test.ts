import { expect, test } from 'vitest';
import { readListeningMessage } from './listening-message.ts';

const timings = { originMs: 1_000.5, bootedMs: 1_030, loadedMs: 1_055.25, listeningMs: 1_060 };
const address = { socketPath: '/run/t/export-1.sock' };

test.each([
  [{ type: 'listening', address, timings }],
  [{ type: 'listening', address: { port: 65_535 } }],
])('readListeningMessage takes %j as it is', (message) => {
  expect(readListeningMessage(message)).toEqual(message);
});

test.each([
  [undefined],
  [null],
  ['listening'],
  [{ type: 'ready', address }],
  [{ type: 'listening' }],
  [{ type: 'listening', address: null }],
  [{ type: 'listening', address: {} }],
  [{ type: 'listening', address: { socketPath: '' } }],
  [{ type: 'listening', address: { port: 0 } }],
  [{ type: 'listening', address: { port: 65_536 } }],
  [{ type: 'listening', address: { port: '8080' } }],
])('readListeningMessage knows nothing of %j', (message) => {
  expect(readListeningMessage(message)).toBeUndefined();
});

test.each([
  [null],
  ['soon'],
  [{ ...timings, loadedMs: undefined }],
  [{ ...timings, bootedMs: Number.NaN }],
  [{ ...timings, originMs: '1000' }],
])('readListeningMessage + timings %j: the address alone', (said) => {
  expect(readListeningMessage({ type: 'listening', address, timings: said })).toEqual({
    type: 'listening',
    address,
  });
});
