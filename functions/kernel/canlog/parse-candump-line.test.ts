import { expect, test } from 'vitest';
import type { CanFrame } from './can-frame.ts';
import { parseCandumpLine } from './parse-candump-line.ts';

const frameOf = (changes: Partial<CanFrame>): CanFrame => ({
  timeUs: 1_000_000,
  bus: 'can0',
  id: 0x123,
  extended: false,
  kind: 'data',
  data: new Uint8Array(0),
  fdFlags: 0,
  requestedLength: 0,
  errorClass: 0,
  ...changes,
});
const bytes = (...values: number[]): { data: Uint8Array } => ({ data: Uint8Array.from(values) });
const counted = (length: number): { data: Uint8Array } => ({
  data: Uint8Array.from({ length }, (_, i) => i),
});
const hexOf = (length: number): string => Buffer.from(counted(length).data).toString('hex');
const spaced = (length: number): string =>
  (hexOf(length).match(/../g) ?? []).join(' ').toUpperCase();

const LOG: readonly (readonly [string, string, Partial<CanFrame>])[] = [
  ['classic', '(1.000000) can0 123#B204', bytes(0xb2, 0x04)],
  ['without data', '(1.000000) can0 123#', {}],
  ['of 8 bytes', `(1.000000) can0 123#${hexOf(8)}`, counted(8)],
  ['in lower case', '(1.000000) can0 7ff#ab', { id: 0x7ff, ...bytes(0xab) }],
  ['with a raw length code', `(1.000000) can0 123#${hexOf(8)}_F`, counted(8)],
  ['with a direction', '(1.000000) can0 123#01 R', bytes(1)],
  ['sent', '(1.000000) can0 123#01 T', bytes(1)],
  [
    'of an extended id',
    '(1.000000) can0 18DAF110#01',
    { id: 0x18daf110, extended: true, ...bytes(1) },
  ],
  ['of a small extended id', '(1.000000) can0 00000123#01', { extended: true, ...bytes(1) }],
  ['of the largest extended id', '(1.000000) can0 1FFFFFFF#', { id: 0x1fffffff, extended: true }],
  ['of FD', '(1.000000) can0 123##3AABB', { kind: 'fd', fdFlags: 3, ...bytes(0xaa, 0xbb) }],
  ['of FD without data', '(1.000000) can0 123##0', { kind: 'fd' }],
  [
    'of FD, 64 bytes',
    `(1.000000) can0 123##1${hexOf(64)}`,
    { kind: 'fd', fdFlags: 1, ...counted(64) },
  ],
  ['remote', '(1.000000) can0 123#R', { kind: 'remote' }],
  ['remote for 8 bytes', '(1.000000) can0 123#R8', { kind: 'remote', requestedLength: 8 }],
  [
    'remote with a raw length code',
    '(1.000000) can0 123#R8_9',
    { kind: 'remote', requestedLength: 8 },
  ],
  ['error', '(1.000000) can0 20000004#0001000000000000', { kind: 'error', id: 0, errorClass: 4 }],
  ['today', '(1609779922.655421) can0 123#', { timeUs: 1_609_779_922_655_421 }],
  [
    'in the last second of doubles',
    '(9007199254.740991) can0 123#',
    { timeUs: 9_007_199_254_740_991 },
  ],
  ['with nanoseconds', '(1.000001999) can0 123#', { timeUs: 1_000_001 }],
  ['with milliseconds', '(1.5) can0 123#', { timeUs: 1_500_000 }],
  ['with a carriage return', '(1.000000) can0 123#01\r', bytes(1)],
];

test.each(LOG)('parseCandumpLine of a log line %s', (_, line, changes) => {
  expect(parseCandumpLine(line)).toEqual({ kind: 'frame', form: 'log', frame: frameOf(changes) });
});

const SCREEN: readonly (readonly [string, string, Partial<CanFrame>])[] = [
  ['classic', ' (1.000000)  can0  123   [2]  B2 04', bytes(0xb2, 0x04)],
  ['without data', ' (1.000000)  can0  123   [0] ', {}],
  ['of 8 bytes', ` (1.000000)  can0  123   [8]  ${spaced(8)}`, counted(8)],
  ['with text', " (1.000000)  can0  123   [3]  41 42 20   'AB '", bytes(0x41, 0x42, 0x20)],
  ['with text like bytes', " (1.000000)  can0  123   [1]  41   '41 42'", bytes(0x41)],
  ['with direction and flags', ' (1.000000)  can0  RX - -  123   [1]  01', bytes(1)],
  [
    'of an extended id',
    ' (1.000000)  can0  18DAF110   [1]  01',
    { id: 0x18daf110, extended: true, ...bytes(1) },
  ],
  [
    'of FD, 12 bytes',
    ` (1.000000)  can0  123  [12]  ${spaced(12)}`,
    { kind: 'fd', ...counted(12) },
  ],
  ['of FD, 8 bytes', ` (1.000000)  can0  123  [08]  ${spaced(8)}`, { kind: 'fd', ...counted(8) }],
  ['of FD with flags', ' (1.000000)  can0  TX B E  123  [01]  07', { kind: 'fd', ...bytes(7) }],
  ['remote', ' (1.000000)  can0  123   [0]  remote request', { kind: 'remote' }],
  [
    'remote for 5 bytes',
    ' (1.000000)  can0  123   [5]  remote request',
    { kind: 'remote', requestedLength: 5 },
  ],
  [
    'error',
    ' (1.000000)  can0  20000080   [8]  00 00 00 00 00 00 00 00   ERRORFRAME',
    { kind: 'error', id: 0, errorClass: 0x80 },
  ],
  ['since the start', ' (000.001220)  can0  123   [0]', { timeUs: 1_220 }],
  [
    'of a date',
    ' (2009-12-11 10:15:30.000007)  can0  123   [0]',
    { timeUs: 1_260_526_530_000_007 },
  ],
];

test.each(SCREEN)('parseCandumpLine of a screen line %s', (_, line, changes) => {
  expect(parseCandumpLine(line)).toEqual({
    kind: 'frame',
    form: 'screen',
    frame: frameOf(changes),
  });
});

test.each([
  ['an odd number of digits', '(1.0) can0 123#123', 'odd number of hex digits (3)'],
  ['letters that are no digits', '(1.0) can0 123#12XY', '"12XY" is not hex digits'],
  ['9 bytes', '(1.0) can0 123#000102030405060708', '9 bytes; a frame of this kind has at most 8'],
  ['9 bytes of FD', `(1.0) can0 123##0${hexOf(9)}`, '9 bytes is not a CAN FD length'],
  [
    '65 bytes of FD',
    `(1.0) can0 123##0${hexOf(65)}`,
    '65 bytes; a frame of this kind has at most 64',
  ],
  ['FD without flags', '(1.0) can0 123##', 'not hex digits'],
  ['a base id of 12 bits', '(1.0) can0 FFF#', 'id FFF has more than 11 bits'],
  ['an id of 31 bits', '(1.0) can0 40000000#', 'id 40000000 has more than 29 bits'],
  ['a remote length of 9', '(1.0) can0 123#R9', '"R9" is not hex digits'],
  ['a hostile bus', '(1.0) ../../x 123#01', '"../../x" is not the name of a bus'],
  ['no time', 'can0  123   [1]  01', 'no time stamp'],
  ['no id', '(1.0) can0', 'neither'],
  ['an impossible date', '(2009-13-11 10:15:30.0)  can0  123   [0]', 'is not a time'],
  ['a time of words', '(yesterday)  can0  123   [0]', '"yesterday" is not a time'],
  ['fewer bytes than announced', '(1.0)  can0  123   [3]  01 02', '[3] announced, 2 bytes found'],
  ['more bytes than announced', '(1.0)  can0  123   [1]  01 02', '[1] announced, 2 bytes found'],
  ['FD of 9 bytes', `(1.0)  can0  123  [09]  ${spaced(9)}`, '9 bytes is not a CAN FD length'],
  ['a remote screen line for 9', '(1.0)  can0  123   [9]  remote request', 'asks for 9 bytes'],
  ['bits', '(1.0)  can0  123   [1]  00000001', 'not bytes of two hex digits'],
])('parseCandumpLine of a line with %s is a fault', (_, line, reason) => {
  const parsed = parseCandumpLine(line);
  expect(parsed).toEqual({ kind: 'fault', reason: expect.stringContaining(reason) as string });
});

test.each(['', '   ', '\r', '# a comment', '\tcontroller-problem{rx-error-warning}'])(
  'parseCandumpLine of %j is skipped',
  (line) => {
    expect(parseCandumpLine(line)).toEqual({ kind: 'skip' });
  },
);
