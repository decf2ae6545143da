import { expect, test } from 'vitest';
import { GRACE_MS, scaledBy, wantedOf, WINDOW_MS, type ScalerRow } from './testing/scaler-row.ts';

/**
 * Restates knative/serving pkg/reconciler/autoscaling/kpa/scaler_test.go, commit 98e5ef90: the rows of
 * TestScaler about bounds, reachability, the initial scale and the way up, and TestDisableScaleToZero, by
 * their labels. TestActivatorProbe has no counterpart: whether the activator is in the path is known.
 */
const SCALER: readonly ScalerRow[] = [
  {
    label: 'scale down to minScale before grace period',
    from: 10,
    to: 0,
    want: 2,
    scales: true,
    status: ['inactive', GRACE_MS - 1_000],
    config: { minScale: 2 },
  },
  {
    // As with a reachability that is not known.
    label: 'scale down to minScale after grace period',
    from: 10,
    to: 0,
    want: 2,
    scales: true,
    status: ['inactive', GRACE_MS],
    config: { minScale: 2 },
  },
  {
    label: 'scale to zero ignore last pod retention if  revision is unreachable',
    want: 0,
    scales: true,
    status: ['inactive', GRACE_MS],
    config: { podRetentionPeriodMs: 10 * GRACE_MS, reachable: false },
  },
  {
    label: "can't scale to zero if revision is unreachable, but before deadline",
    want: 0,
    scales: false,
    status: ['inactive', GRACE_MS - 1_000],
    config: { podRetentionPeriodMs: 10 * GRACE_MS, reachable: false },
    againInMs: GRACE_MS,
  },
  {
    label: 'ignore minScale if unreachable',
    from: 10,
    to: 0,
    want: 0,
    scales: true,
    status: ['inactive', GRACE_MS],
    config: { minScale: 2, reachable: false },
  },
  {
    label: 'observe minScale if reachability unknown',
    from: 10,
    to: 0,
    want: 2,
    scales: true,
    status: ['inactive', GRACE_MS],
    // Unknown counts as reachable: only "unreachable" takes the minimum away.
    config: { minScale: 2, reachable: true },
  },
  { label: 'scales up', from: 1, to: 10, want: 10, scales: true },
  {
    label: 'scales up to maxScale',
    from: 1,
    to: 10,
    want: 8,
    scales: true,
    config: { maxScale: 8 },
  },
  {
    label: 'scale up inactive revision',
    from: 1,
    to: 10,
    want: 10,
    scales: true,
    status: ['inactive', GRACE_MS / 2],
  },
  {
    label: 'does not scale up from zero with no metrics',
    from: 0,
    to: -1,
    want: -1,
    scales: false,
    status: ['inactive', 0],
  },
  { label: 'scales up from zero to desired one', from: 0, to: 1, want: 1, scales: true },
  { label: 'scales up from zero to desired high scale', from: 0, to: 10, want: 10, scales: true },
  {
    label: 'negative scale does not scale',
    from: 12,
    to: -1,
    want: -1,
    scales: false,
    status: ['active', 0],
  },
  {
    label: 'initial scale attained, but now time to scale down',
    from: 2,
    to: 0,
    want: 1,
    scales: true,
    status: ['active', 120_000],
    config: { initialScale: 2 },
    inputs: { initialised: true },
    againInMs: WINDOW_MS - 120_000,
  },
  {
    label: "haven't scaled to initial scale, override desired scale with initial scale",
    from: 0,
    to: 1,
    want: 2,
    scales: true,
    status: ['activating', 0],
    config: { initialScale: 2 },
  },
  {
    label: 'initial scale reached for the first time',
    from: 5,
    to: 1,
    want: 5,
    scales: false,
    status: ['activating', 0],
    config: { initialScale: 5 },
  },
  {
    label: 'reaching initial scale zero',
    from: 0,
    to: 0,
    want: 0,
    scales: false,
    status: ['inactive', 0],
    config: { initialScale: 0 },
    againInMs: GRACE_MS,
  },
  {
    label: 'unreachable revision with initialScale > 1 can scale to 0',
    from: 2,
    to: 0,
    want: 1,
    scales: true,
    status: ['active', 120_000],
    config: { initialScale: 2, reachable: false },
    againInMs: WINDOW_MS - 120_000,
  },
];

const DISABLED: readonly ScalerRow[] = [
  {
    label: 'EnableScaleToZero == false and minScale == 0',
    from: 10,
    to: 0,
    want: 1,
    scales: true,
    status: ['active', 0],
    config: { enableScaleToZero: false },
  },
  {
    label: 'EnableScaleToZero == false and minScale == 2',
    from: 10,
    to: 0,
    want: 2,
    scales: true,
    status: ['active', 0],
    config: { enableScaleToZero: false, minScale: 2 },
  },
  {
    label: 'EnableScaleToZero == false and desire pod is -1(initial value)',
    from: 10,
    to: -1,
    want: -1,
    scales: false,
    status: ['active', 0],
    config: { enableScaleToZero: false },
  },
];

test.each(SCALER)('TestScaler: $label', (row) => {
  expect(scaledBy(row)).toEqual(wantedOf(row));
});

test.each(DISABLED)('TestDisableScaleToZero: $label', (row) => {
  expect(scaledBy(row)).toEqual(wantedOf(row));
});
