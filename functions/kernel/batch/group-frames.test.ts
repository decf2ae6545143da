import { expect, test } from 'vitest';
import { parseCandumpLine } from '../canlog/parse-candump-line.ts';
import { groupFrames } from './group-frames.ts';

const frames = (lines: string[]) =>
  lines.flatMap((line) => {
    const parsed = parseCandumpLine(line);
    return parsed.kind === 'frame' ? [parsed.frame] : [];
  });

test('groupFrames groups by bus, id, its width and kind, in recorded order', () => {
  const groups = groupFrames(
    frames([
      '(10.000100) can0 025#0102',
      '(10.000200) can1 025#03',
      '(10.000300) can0 00000025#04',
      '(10.000400) can0 025#R',
      '(10.000250) can0 025#050607',
      '(10.000500) can0 20000004#0000000000000000',
    ]),
    10_000_000,
  );
  const summary = groups.map(({ bus, id, extended, kind, timeUs, lengths, payload }) => [
    bus,
    id,
    extended,
    kind,
    [...timeUs],
    [...lengths],
    [...payload],
  ]);
  expect(summary).toEqual([
    ['can0', 0x25, false, 'data', [100, 250], [2, 3], [1, 2, 5, 6, 7]],
    ['can1', 0x25, false, 'data', [200], [1], [3]],
    ['can0', 0x25, true, 'data', [300], [1], [4]],
    ['can0', 0x25, false, 'remote', [400], [0], []],
    ['can0', 0, false, 'error', [500], [0], []],
  ]);
});

test('groupFrames of no frames is no group', () => {
  expect(groupFrames([], 0)).toEqual([]);
});
