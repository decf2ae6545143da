import { expect, test } from 'vitest';
import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import { compileSelection } from './selection.ts';
import { canFrame } from './testing/frames.ts';
import type { CampaignRules } from './selection.ts';
import type { CampaignSignal } from '#kernel/facts/campaign.ts';
import type { CanFrame } from '#kernel/canlog/can-frame.ts';

const DBC = `VERSION ""
BU_: ECU
BO_ 256 A: 2 ECU
 SG_ FAST : 0|8@1+ (0.5,0) [0|127.5] "" ECU
 SG_ SLOW : 8|8@1+ (1,0) [0|255] "" ECU
BO_ 512 B: 3 ECU
 SG_ MODE M : 0|8@1+ (1,0) [0|255] "" ECU
 SG_ ONE m1 : 8|8@1+ (1,0) [0|255] "" ECU
`;

const databases = new Map([['hash', parseDbc(Buffer.from(DBC))]]);

const rules = (change: Partial<CampaignRules>): CampaignRules => ({
  decoders: { can0: 'hash' },
  signals: [],
  rawFrames: 'none',
  ...change,
});

const signal = (name: string, record: CampaignSignal['record']): CampaignSignal => ({
  name,
  bus: 'can0',
  record,
});

const taken = (campaign: CampaignRules, frames: readonly CanFrame[]): readonly number[] => {
  const select = compileSelection(campaign, databases);
  return frames.filter((frame) => select(frame)).map(({ timeUs }) => timeUs);
};

const frameA = (timeUs: number, fast: number, slow = 0): CanFrame =>
  canFrame(timeUs, { id: 0x100, data: Uint8Array.of(fast, slow) });

test('compileSelection with rawFrames all: takes everything, error frames too', () => {
  const frames = [canFrame(0, { bus: 'can9' }), canFrame(1, { kind: 'error', id: 0 })];
  expect(taken(rules({ rawFrames: 'all' }), frames)).toEqual([0, 1]);
});

test('compileSelection without signals: every frame of a known message on its bus', () => {
  const frames = [
    frameA(0, 1),
    canFrame(1, { id: 0x101 }),
    canFrame(2, { id: 0x100, bus: 'can1' }),
    canFrame(3, { id: 0x100, extended: true }),
    canFrame(4, { id: 0x100, kind: 'remote', data: new Uint8Array() }),
    canFrame(5, { id: 0x200, data: Uint8Array.of(0, 0, 0) }),
  ];
  expect(taken(rules({}), frames)).toEqual([0, 5]);
});

test('compileSelection with everyMs: the first frame in each slot of the session grid', () => {
  const campaign = rules({ signals: [signal('A.FAST', { everyMs: 100 })] });
  const frames = [5_000, 99_999, 100_000, 150_000, 310_000, 399_999, 400_000].map((timeUs) =>
    frameA(timeUs, 1),
  );
  expect(taken(campaign, frames)).toEqual([5_000, 100_000, 310_000, 400_000]);
});

test('compileSelection with onChange: the first value, then moves beyond the dead-band', () => {
  const campaign = rules({ signals: [signal('A.FAST', { onChange: { deadband: 1 } })] });
  // Physical = raw / 2: 5, 5.5, 6, 6.5 (1.5 from 5), 6, 5 (1.5 from 6.5).
  const frames = [10, 11, 12, 13, 12, 10].map((raw, timeUs) => frameA(timeUs, raw));
  expect(taken(campaign, frames)).toEqual([0, 3, 5]);
});

test('compileSelection with onChange and dead-band 0: every change, no repetition', () => {
  const campaign = rules({ signals: [signal('A.SLOW', { onChange: { deadband: 0 } })] });
  const frames = [1, 1, 2, 2, 1].map((slow, timeUs) => frameA(timeUs, timeUs, slow));
  expect(taken(campaign, frames)).toEqual([0, 2, 4]);
});

test('compileSelection with two rules on one message: taken when one asks, both remember it', () => {
  const campaign = rules({
    signals: [
      signal('A.FAST', { onChange: { deadband: 0 } }),
      signal('A.SLOW', { onChange: { deadband: 10 } }),
    ],
  });
  // The second frame is taken for FAST, so SLOW's reference moves to 8, and 12 is within 10 of it.
  const frames = [frameA(0, 1, 0), frameA(1, 2, 8), frameA(2, 2, 12), frameA(3, 2, 19)];
  expect(taken(campaign, frames)).toEqual([0, 1, 3]);
});

test('compileSelection with a multiplexed signal: asks only where its selector has its value', () => {
  const campaign = rules({ signals: [signal('B.ONE', { all: true })] });
  const frame = (timeUs: number, ...data: number[]): CanFrame =>
    canFrame(timeUs, { id: 0x200, data: Uint8Array.from(data) });
  expect(taken(campaign, [frame(0, 0, 5, 0), frame(1, 1, 5, 0), frame(2, 1)])).toEqual([1]);
});

test('compileSelection with a list of raw frames: those pairs beside the signals', () => {
  const campaign = rules({
    signals: [signal('A.SLOW', { onChange: { deadband: 0 } })],
    rawFrames: [
      { bus: 'can1', id: 0x7ff },
      { bus: 'can0', id: 0x200 },
    ],
  });
  const frames = [
    canFrame(0, { bus: 'can1', id: 0x7ff }),
    canFrame(1, { bus: 'can0', id: 0x7ff }),
    canFrame(2, { id: 0x200, kind: 'remote', data: new Uint8Array() }),
    canFrame(3, { id: 0x200, data: Uint8Array.of(0, 0, 0) }),
    canFrame(4, { kind: 'error', id: 0x200 }),
    frameA(5, 0, 1),
    frameA(6, 0, 1),
  ];
  expect(taken(campaign, frames)).toEqual([0, 2, 3, 5]);
});

test('compileSelection with a bus whose database is not given: no signal there', () => {
  const select = compileSelection(rules({ decoders: { can0: 'other' } }), databases);
  expect(select(frameA(0, 1))).toBe(false);
});
