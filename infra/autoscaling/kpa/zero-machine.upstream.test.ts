import { expect, test } from 'vitest';
import {
  ACTIVATION_MS,
  GRACE_MS,
  scaledBy,
  wantedOf,
  WINDOW_MS,
  type ScalerRow,
} from './testing/scaler-row.ts';

/**
 * Restates knative/serving pkg/reconciler/autoscaling/kpa/scaler_test.go, commit 98e5ef90: the rows of
 * TestScaler about the way to zero, by their labels. Those about bounds, the initial scale and the way up
 * are in zero-machine-bounds.upstream.test.ts.
 */
const CUSTOM_WINDOW_MS = 45_000;

const ROWS: readonly ScalerRow[] = [
  {
    label: 'waits to scale to zero (just before idle period)',
    want: 1,
    scales: false,
    status: ['active', WINDOW_MS - 1_000],
    againInMs: 1_000,
  },
  {
    label: 'waits to scale to zero (just before idle period), custom PA window',
    want: 1,
    scales: false,
    status: ['active', CUSTOM_WINDOW_MS - 1_000],
    config: { stableWindowMs: CUSTOM_WINDOW_MS },
    againInMs: 1_000,
  },
  {
    label: 'custom PA window, check for standard window, no probe',
    want: 0,
    scales: false,
    status: ['active', WINDOW_MS],
    config: { stableWindowMs: CUSTOM_WINDOW_MS },
  },
  {
    label: 'scale to 1 waiting for idle expires',
    from: 10,
    to: 0,
    want: 1,
    scales: true,
    status: ['active', WINDOW_MS - 1_000],
    againInMs: 1_000,
  },
  {
    label: 'waits to scale to zero after idle period',
    want: 0,
    scales: false,
    status: ['active', WINDOW_MS],
  },
  {
    label: 'waits to scale to zero after idle period; sks in proxy mode',
    want: 0,
    scales: false,
    status: ['active', WINDOW_MS],
    proxyForMs: 0,
    againInMs: 3_000,
  },
  {
    label: 'waits to scale to zero after idle period (custom PA window)',
    want: 0,
    scales: false,
    status: ['active', CUSTOM_WINDOW_MS],
    config: { stableWindowMs: CUSTOM_WINDOW_MS },
  },
  {
    label: 'can scale to zero after grace period, but 0 PA retention',
    want: 0,
    scales: true,
    status: ['inactive', GRACE_MS],
    config: { podRetentionPeriodMs: 0 },
  },
  {
    // Of the revision or of the ConfigMap, upstream has a row for each.
    label: "can't scale to zero after grace period, but before last pod retention",
    want: 0,
    scales: false,
    status: ['inactive', GRACE_MS],
    config: { podRetentionPeriodMs: 2 * GRACE_MS },
    againInMs: GRACE_MS,
  },
  {
    label: "can't scale to zero after grace period, but before last pod retention, pa defined",
    want: 0,
    scales: false,
    status: ['inactive', GRACE_MS],
    // What the annotation says, resolved: the ConfigMap has 0.
    config: { podRetentionPeriodMs: 2 * GRACE_MS },
    againInMs: GRACE_MS,
  },
  {
    label: 'scale to zero after grace period, and after last pod retention',
    want: 0,
    scales: true,
    status: ['inactive', GRACE_MS],
    config: { podRetentionPeriodMs: GRACE_MS },
  },
  {
    label: 'scale to zero after grace period',
    want: 0,
    scales: true,
    status: ['inactive', GRACE_MS],
  },
  {
    label: 'waits to scale to zero (just before grace period)',
    want: 0,
    scales: false,
    status: ['inactive', GRACE_MS - 1_000],
    againInMs: GRACE_MS,
  },
  {
    label: 'waits to scale to zero (just before grace period, sks short)',
    want: 0,
    scales: false,
    status: ['inactive', GRACE_MS - 1_000],
    proxyForMs: GRACE_MS - 1_000,
    againInMs: 1_000,
  },
  {
    label:
      'waits to scale to zero (just before grace period, sks in proxy long) and last pod timeout positive',
    want: 0,
    scales: true,
    status: ['inactive', GRACE_MS - 1_000],
    config: { podRetentionPeriodMs: 42_000 },
    proxyForMs: GRACE_MS,
  },
  {
    label: 'waits to scale to zero (just before grace period, sks in proxy long)',
    want: 0,
    scales: true,
    status: ['inactive', GRACE_MS - 1_000],
    proxyForMs: GRACE_MS,
  },
  {
    label: 'scale to zero with TBC=-1',
    want: 0,
    scales: true,
    status: ['inactive', GRACE_MS],
    config: { targetBurstCapacity: -1 },
    // Nobody asks whether the activator answers.
    inputs: { activatorAnswers: false },
  },
  {
    // Upstream's next row is the same with another answer.
    label: 'scale to zero after grace period, but fail prober',
    want: 0,
    scales: false,
    status: ['inactive', GRACE_MS],
    inputs: { activatorAnswers: false },
    againInMs: 1_000,
  },
  {
    label: 'scale to zero after grace period, but wrong prober response',
    want: 0,
    scales: false,
    status: ['inactive', GRACE_MS],
    // A refused probe and an answer of something else are one to this machine.
    inputs: { activatorAnswers: false },
    againInMs: 1_000,
  },
  {
    label: 'waits to scale to zero while activating until after deadline exceeded',
    want: -1,
    scales: false,
    status: ['activating', ACTIVATION_MS / 2],
    againInMs: ACTIVATION_MS,
  },
  {
    label: 'scale to zero while activating after deadline exceeded',
    want: 0,
    scales: true,
    status: ['activating', ACTIVATION_MS + 1_000],
  },
  {
    label: 'scale to zero while activating after revision deadline exceeded',
    want: 0,
    scales: true,
    status: ['activating', 5_000 + 30_000 + 1_000],
    config: { progressDeadlineMs: 5_000 },
  },
];

test.each(ROWS)('TestScaler: $label', (row) => {
  expect(scaledBy(row)).toEqual(wantedOf(row));
});
