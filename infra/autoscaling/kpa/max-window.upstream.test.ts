import { expect, test } from 'vitest';
import { currentMax, emptyMaxWindow, recordMax } from './max-window.ts';

/** knative/serving pkg/autoscaler/aggregation/max/window_test.go, commit 98e5ef90: TestWindowMax, five slots. */
test.each([
  { name: 'single value', values: [1], want: [1] },
  { name: 'ascending values', values: [1, 2], want: [1, 2] },
  { name: 'descending values', values: [2, 1], want: [2, 2] },
  { name: 'up, down, up', values: [1, 2, 1], want: [1, 2, 2] },
  { name: 'windowing out', values: [5, 6, 5, 5, 5, 5, 5], want: [5, 6, 6, 6, 6, 6, 5] },
  {
    name: 'windowing out with gaps',
    values: [6, 5, 2, 1],
    slots: [0, 1, 2, 6],
    want: [6, 6, 6, 2],
  },
  { name: 'windowing out 2', values: [5, 6, 5, 7, 5, 5, 1], want: [5, 6, 6, 7, 7, 7, 7] },
  { name: 'windowing out 3', values: [5, 8, 5, 7, 5, 5], want: [5, 8, 8, 8, 8, 8] },
  { name: 'windowing out 4', values: [5, 8, 5, 7, 5, 5, 1], want: [5, 8, 8, 8, 8, 8, 7] },
  {
    name: 'windowing out 5',
    values: [5, 8, 5, 7, 5, 5, 1, 4, 4, 4],
    want: [5, 8, 8, 8, 8, 8, 7, 7, 5, 5],
  },
  {
    name: 'windowing out 6',
    values: [5, 8, 5, 7, 5, 5, 1, 4, 4, 4, 4],
    want: [5, 8, 8, 8, 8, 8, 7, 7, 5, 5, 4],
  },
  {
    name: 'windowing out 7',
    values: [5, 8, 5, 7, 5, 5, 1, 4, 4, 4, 4, 9],
    want: [5, 8, 8, 8, 8, 8, 7, 7, 5, 5, 4, 9],
  },
  {
    name: 'windowing out 8',
    values: [5, 8, 5, 7, 5, 5, 1, 4, 4, 4, 4, 9, 3, 4, 2, 1, 0],
    want: [5, 8, 8, 8, 8, 8, 7, 7, 5, 5, 4, 9, 9, 9, 9, 9, 4],
  },
  {
    name: 'multiple with same index, ascending',
    values: [1, 2, 3, 4, 5, 6, 7],
    slots: [1, 1, 1, 1, 1, 1, 1],
    want: [1, 2, 3, 4, 5, 6, 7],
  },
  {
    name: 'multiple with same index, descending',
    values: [7, 6, 5, 4, 3, 2, 1],
    slots: [1, 1, 1, 1, 1, 1, 1],
    want: [7, 7, 7, 7, 7, 7, 7],
  },
])('TestWindowMax: $name', ({ values, slots, want }) => {
  let window = emptyMaxWindow(5_000, 1_000);
  const seen = values.map((value, index) => {
    window = recordMax(window, (slots?.[index] ?? index) * 1_000, value);
    return currentMax(window);
  });
  expect(seen).toEqual(want);
});

/** timewindow_test.go: TestTimedWindowMax, 5 s by 1 s; upstream's moments lie anywhere in a second. */
test.each([
  { name: 'single value', values: [[100, 5]], want: 5 },
  {
    name: 'two values in same second',
    values: [
      [100, 6],
      [600, 5],
    ],
    want: 6,
  },
  {
    name: 'two values',
    values: [
      [100, 5],
      [1_100, 8],
    ],
    want: 8,
  },
  {
    name: 'time gap',
    values: [
      [100, 5],
      [6_100, 4],
    ],
    want: 4,
  },
])('TestTimedWindowMax: $name', ({ values, want }) => {
  const window = values.reduce(
    (known, [atMs = 0, value = 0]) => recordMax(known, atMs, value),
    emptyMaxWindow(5_000, 1_000),
  );
  expect(currentMax(window)).toBe(want);
});

test('never more entries than slots, however many values', () => {
  let window = emptyMaxWindow(5_000, 1_000);
  let most = 0;
  for (let index = 0; index < 1_000; index++) {
    // Descending: no value makes an older one needless.
    window = recordMax(window, index * 1_000, 1_000 - index);
    most = Math.max(most, window.maxima.length);
  }
  expect(most).toBe(5);
});

test('a value from before the newest slot counts as of that slot', () => {
  let window = recordMax(emptyMaxWindow(5_000, 1_000), 9_000, 3);
  window = recordMax(window, 2_000, 7);
  expect(window.maxima).toEqual([{ slot: 9, value: 7 }]);
});

test('of equal values only the newest is kept', () => {
  let window = emptyMaxWindow(5_000, 1_000);
  for (let slot = 0; slot < 4; slot++) window = recordMax(window, slot * 1_000, 2);
  expect(window.maxima).toEqual([{ slot: 3, value: 2 }]);
});
