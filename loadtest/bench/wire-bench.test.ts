import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { TARGET_BYTES_PER_FRAME, wireBench } from './wire-bench.ts';

test('wireBench of the recorded drive meets its target', async () => {
  const [first, ...others] = await wireBench(new VirtualClock());
  expect(first).toMatchObject({ unit: 'bytes/frame', target: '<= 5', met: true });
  expect(first?.value).toBeLessThanOrEqual(TARGET_BYTES_PER_FRAME);
  expect(others.every(({ name, unit }) => name.startsWith('wire, ') && unit !== '')).toBe(true);
});
