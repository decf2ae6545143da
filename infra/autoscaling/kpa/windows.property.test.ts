import fc from 'fast-check';
import { expect, test } from 'vitest';
import { currentMax, emptyMaxWindow, recordMax } from './max-window.ts';
import { averageAt, emptyWindow, recordIn, weightedAverageAt } from './time-window.ts';

const histories = fc.array(
  fc.record({
    afterMs: fc.oneof(fc.constant(1_000), fc.integer({ min: 0, max: 9_000 })),
    value: fc.integer({ min: 0, max: 50 }),
  }),
  { minLength: 1, maxLength: 60 },
);

test('a window averages what lies in its last seconds, over those since the first report', () => {
  fc.assert(
    fc.property(histories, fc.integer({ min: 1, max: 8 }), (history, seconds) => {
      let window = emptyWindow(seconds * 1_000);
      const known: { readonly second: number; readonly value: number }[] = [];
      let nowMs = 100_000;
      let first: number | undefined;
      for (const { afterMs, value } of history) {
        nowMs += afterMs;
        const now = Math.floor(nowMs / 1_000);
        // A whole window without a report: it begins anew.
        if (first === undefined || now - (known.at(-1)?.second ?? 0) >= seconds) first = now;
        known.push({ second: now, value });
        window = recordIn(window, nowMs, value);
        const within = known.filter(({ second }) => now - second < seconds);
        const total = within.reduce((sum, report) => sum + report.value, 0);
        expect(averageAt(window, nowMs)).toBeCloseTo(total / Math.min(now - first + 1, seconds), 5);
        expect(window.buckets).toHaveLength(seconds);
      }
    }),
    { seed: 1 },
  );
});

test('neither average leaves the range of the seconds seen', () => {
  fc.assert(
    fc.property(histories, (history) => {
      let window = emptyWindow(6_000);
      let nowMs = 100_000;
      const perSecond = new Map<number, number>();
      for (const { afterMs, value } of history) {
        nowMs += afterMs;
        const second = Math.floor(nowMs / 1_000);
        perSecond.set(second, (perSecond.get(second) ?? 0) + value);
        window = recordIn(window, nowMs, value);
        const most = Math.max(...perSecond.values());
        for (const average of [averageAt(window, nowMs), weightedAverageAt(window, nowMs)]) {
          expect(average).toBeGreaterThanOrEqual(0);
          expect(average).toBeLessThanOrEqual(most);
        }
      }
    }),
    { seed: 2 },
  );
});

test('the maximum is that of all values in the last slots', () => {
  fc.assert(
    fc.property(histories, fc.integer({ min: 1, max: 12 }), (history, slots) => {
      let window = emptyMaxWindow(slots * 2_000, 2_000);
      const known: { readonly slot: number; readonly value: number }[] = [];
      let nowMs = 100_000;
      for (const { afterMs, value } of history) {
        nowMs += afterMs;
        const now = Math.floor(nowMs / 2_000);
        known.push({ slot: now, value });
        window = recordMax(window, nowMs, value);
        const within = known.filter(({ slot }) => now - slot < slots);
        expect(currentMax(window)).toBe(Math.max(...within.map((entry) => entry.value)));
        expect(window.maxima.length).toBeLessThanOrEqual(slots);
      }
    }),
    { seed: 3 },
  );
});
