import { expect, test } from 'vitest';
import type { Signal } from '#kernel/dbc/model.ts';
import { cleanse, isNotAvailable } from './cleanse.ts';
import { decode } from './decode.ts';
import { inputOf, motion } from './testing/window-fixtures.ts';

const SIGNAL: Signal = {
  name: 'S',
  startBit: 0,
  bitLength: 8,
  byteOrder: 'intel',
  valueType: 'unsigned',
  factor: 1,
  offset: 0,
  min: 0,
  max: 250,
  unit: '',
  comment: '',
  isSelector: false,
  multiplex: undefined,
  labels: new Map(),
};

const qualityOf = (frames: Parameters<typeof inputOf>[0], signal: string) =>
  cleanse(decode(inputOf(frames))).find((one) => one.signal === signal);

test('cleanse counts physical values outside the limits, not the limits themselves', () => {
  // SPEED is 0.5 km/h a bit within [0|120]: raw 240 is the limit, 241 is beyond.
  const frames = [0, 240, 241, 250].map((raw, index) => motion(index, raw));
  expect(qualityOf(frames, 'SPEED')).toEqual({
    bus: 'can0',
    message: 'MOTION',
    signal: 'SPEED',
    samples: 4,
    outOfRange: 2,
    notAvailable: 0,
    constant: false,
  });
});

test('cleanse takes limits [0|0] for none', () => {
  const frames = [1, 2].map((count) => motion(count, 0, [count, 0, 0]));
  expect(qualityOf(frames, 'COUNT')).toMatchObject({ outOfRange: 0, notAvailable: 0 });
});

test('cleanse counts all ones beyond the limits as not available, not as out of range', () => {
  expect(qualityOf([motion(1, 255), motion(2, 1)], 'SPEED')).toMatchObject({
    outOfRange: 0,
    notAvailable: 1,
  });
});

test('cleanse says constant of two equal samples, not of one, and not of two different ones', () => {
  expect(qualityOf([motion(1, 5)], 'SPEED')?.constant).toBe(false);
  expect(qualityOf([motion(1, 5), motion(2, 5)], 'SPEED')?.constant).toBe(true);
  expect(qualityOf([motion(1, 5), motion(2, 6), motion(3, 5)], 'SPEED')?.constant).toBe(false);
});

test('cleanse counts samples of the own span and present ones only', () => {
  const frames = [motion(100, 5), { timeUs: 1_000_100, id: 100, data: [7] }];
  const window = decode(inputOf(frames, { fromUs: 1_000_000, untilUs: 2_000_000 }));
  const samples = cleanse(window).map(({ signal, samples }) => [signal, samples]);
  expect(samples).toEqual([
    ['SPEED', 1],
    ['COUNT', 0],
    ['GEAR', 0],
    ['TEMP', 0],
  ]);
});

test('isNotAvailable of all ones depends on width, sign and limits', () => {
  expect(isNotAvailable(SIGNAL, 255)).toBe(true);
  expect(isNotAvailable(SIGNAL, 254)).toBe(false);
  expect(isNotAvailable({ ...SIGNAL, max: 255 }, 255)).toBe(false);
  expect(isNotAvailable({ ...SIGNAL, min: 0, max: 0 }, 255)).toBe(false);
  expect(isNotAvailable({ ...SIGNAL, valueType: 'signed', max: -5, min: -9 }, 255)).toBe(false);
  expect(isNotAvailable({ ...SIGNAL, bitLength: 7, max: 100 }, 127)).toBe(false);
  const wide = { ...SIGNAL, bitLength: 64 };
  expect(isNotAvailable(wide, 2n ** 64n - 1n)).toBe(true);
  // As a double this would be all ones too.
  expect(isNotAvailable(wide, 2n ** 64n - 2n)).toBe(false);
});

test('isNotAvailable goes by the label whatever the width', () => {
  const labelled = (text: string): boolean =>
    isNotAvailable({ ...SIGNAL, bitLength: 2, labels: new Map([[3, text]]) }, 3);
  for (const text of [
    'SNA',
    'sna',
    'Signal not available',
    'NOT_AVAILABLE',
    'N/A',
    'NA',
    'Gear SNA',
  ]) {
    expect([text, labelled(text)]).toEqual([text, true]);
  }
  for (const text of ['available', 'Snare', 'NATO', 'CHINA', 'DNA', 'invalid']) {
    expect([text, labelled(text)]).toEqual([text, false]);
  }
});

test('isNotAvailable of a float that is no number', () => {
  const float: Signal = { ...SIGNAL, valueType: 'float64', bitLength: 64 };
  expect(isNotAvailable(float, NaN)).toBe(true);
  expect(isNotAvailable(float, Infinity)).toBe(false);
});

test('isNotAvailable + labels of 64 bits go by the exact value, not by its nearest double', () => {
  const labels = new Map<number | bigint, string>([
    [2n ** 64n - 1n, 'SNA'],
    [2n ** 64n - 2n, 'ERR'],
    [2n ** 53n + 1n, 'not available'],
  ]);
  const signal = { ...SIGNAL, bitLength: 64, labels };
  const isSo = (raw: number | bigint): boolean => isNotAvailable(signal, raw);
  expect([2n ** 64n - 1n, 2n ** 53n + 1n].map(isSo)).toEqual([true, true]);
  expect([2n ** 64n - 2n, 2n ** 53n, 2n ** 53n + 2n, 2 ** 53].map(isSo)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
