import { expect, test } from 'vitest';
import { durationOption } from './duration-option.ts';

const range = { minMs: 100, maxMs: 86_400_000 };

test.each([
  ['100ms', 100],
  ['30s', 30_000],
  ['1.5min', 90_000],
  ['24h', 86_400_000],
])('durationOption %s is %i ms', (text, ms) => {
  expect(durationOption('duration', text, range)).toBe(ms);
});

test.each(['30', '99ms', '25h', '-1s', '1 s', 's', '1e3s', ''])(
  'durationOption refuses %j',
  (text) => {
    expect(() => durationOption('duration', text, range)).toThrow(
      `--duration = "${text}" is not valid: use 0.1s to 24h`,
    );
  },
);
