import type { CanFrame } from '#kernel/canlog/can-frame.ts';

/** A data frame for tests; what matters is given, the rest is usual. */
export const canFrame = (timeUs: number, change: Partial<CanFrame> = {}): CanFrame => ({
  timeUs,
  bus: 'can0',
  id: 0x100,
  extended: false,
  kind: 'data',
  data: Uint8Array.of(timeUs % 256, 2, 3, 4),
  fdFlags: 0,
  requestedLength: 0,
  errorClass: 0,
  ...change,
});
