import { expect, test } from 'vitest';
import { systemClock } from '#kernel/system/system-clock.ts';
import { samplesBench, TARGET_BYTES_PER_SAMPLE } from './samples-bench.ts';

test('samplesBench of the recorded drive meets the target for stored bytes in 10 s windows', async () => {
  const rows = await samplesBench(systemClock);
  const row = (name: string) => rows.find((one) => one.name === name);
  const stored = row('stored bytes per decoded sample, 10 s windows');
  expect(stored?.value).toBeLessThanOrEqual(TARGET_BYTES_PER_SAMPLE);
  expect(stored?.met).toBe(true);
  // The recorded minute, decoded: an empty run would have a fine ratio too.
  expect(row('decoded samples')?.value).toBeGreaterThan(170_000);
});
