import { expect, test } from 'vitest';
import { defaultConfig } from './testing/example-config.ts';
import { scaleFor, type ZeroInputs } from './zero-machine.ts';

const NOW_MS = 1_000_000;

const INPUTS: ZeroInputs = {
  status: 'active',
  statusSinceMs: NOW_MS - 60_000,
  path: 'proxy',
  proxySinceMs: NOW_MS - 10_000,
  initialised: true,
  activatorAnswers: true,
};

test.each([
  { name: 'a maximum', config: { maxScale: 3 }, to: 9, want: 3, limits: ['max-scale'] },
  { name: 'a minimum', config: { minScale: 2 }, to: 1, want: 2, limits: ['min-scale'] },
  {
    name: 'an initial scale above the minimum',
    config: { minScale: 2, initialScale: 4 },
    inputs: { initialised: false },
    to: 1,
    want: 4,
    limits: ['initial-scale'],
  },
  {
    name: 'an initial scale below the minimum',
    config: { minScale: 4, initialScale: 2 },
    inputs: { initialised: false },
    to: 1,
    want: 4,
    limits: ['min-scale'],
  },
  {
    name: 'no scaling to zero',
    config: { enableScaleToZero: false },
    to: 0,
    want: 1,
    limits: ['enable-scale-to-zero'],
  },
  {
    name: 'the window since it became active',
    inputs: { statusSinceMs: NOW_MS - 59_999 },
    to: 0,
    want: 1,
    limits: ['window'],
  },
  {
    name: 'the grace period',
    inputs: { status: 'inactive', statusSinceMs: NOW_MS } as const,
    to: 0,
    want: 0,
    limits: ['scale-to-zero-grace-period'],
  },
  {
    name: 'the time the last pod is kept',
    config: { podRetentionPeriodMs: 5_000 },
    inputs: { status: 'inactive', statusSinceMs: NOW_MS } as const,
    to: 0,
    want: 0,
    limits: ['scale-to-zero-pod-retention-period'],
  },
  { name: 'nothing', to: 2, want: 2, limits: [] },
])('$name is named where it acts', ({ config, inputs, to, want, limits }) => {
  const outcome = scaleFor(defaultConfig(config), { ...INPUTS, ...inputs }, to, NOW_MS);
  expect(outcome).toMatchObject({ desired: want, limits });
});

test('a maximum that is met is no limit at work', () => {
  const outcome = scaleFor(defaultConfig({ maxScale: 3, minScale: 3 }), INPUTS, 3, NOW_MS);
  expect(outcome).toMatchObject({ desired: 3, apply: true, limits: [] });
});

test.each([
  { afterMs: 630_000, want: -1, apply: false, againInMs: 630_000 },
  { afterMs: 630_001, want: 0, apply: true, againInMs: null },
])('it is given up after progress deadline and buffer, not at them: $afterMs ms → $want', (row) => {
  const inputs = {
    ...INPUTS,
    status: 'activating',
    statusSinceMs: NOW_MS - row.afterMs,
    initialised: false,
  } as const;
  const { desired, apply, againAtMs } = scaleFor(defaultConfig(), inputs, 0, NOW_MS);
  const againInMs = againAtMs === null ? null : againAtMs - NOW_MS;
  expect({ want: desired, apply, againInMs }).toEqual({
    want: row.want,
    apply: row.apply,
    againInMs: row.againInMs,
  });
});
