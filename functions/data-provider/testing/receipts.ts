import type { ReceiptFact } from '#kernel/facts/facts.ts';

/** The receipt of a one-second batch with 10 frames, received one second after it was recorded. */
export const receipt = (seq: number, session = 's1'): ReceiptFact => ({
  vehicle: 'v1',
  session,
  seq,
  campaign: 'demo',
  campaignVersion: 1,
  fromUs: seq * 1_000_000,
  untilUs: (seq + 1) * 1_000_000,
  firstUs: seq * 1_000_000,
  lastUs: seq * 1_000_000 + 999_000,
  frames: 10,
  unsortedFrames: 0,
  seen: 10,
  matched: 10,
  recordedByVehicle: 10,
  dropped: {},
  clock: { monotonicUs: 0, wallUs: 1_767_600_000_000_000, source: 'rtc' },
  end: false,
  flags: [],
  sha256: 'a'.repeat(64),
  bodyBytes: 100,
  receivedAtMs: 1_767_600_000_000 + seq * 1_000,
});

/** The receipt of an emulated batch. */
export const emulatedReceipt = (seq: number, end = false): ReceiptFact => ({
  ...receipt(seq),
  firstUs: null,
  lastUs: null,
  frames: 0,
  seen: 0,
  matched: 0,
  recordedByVehicle: 0,
  emulated: true,
  end,
});
