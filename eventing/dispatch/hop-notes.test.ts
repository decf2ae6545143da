import { expect, test } from 'vitest';
import { HopNotes } from './hop-notes.ts';

const notes = () => new HopNotes((ms) => ms + 1_000);

test('each wait ends where the next begins, or the request is sent', () => {
  const hop = notes();
  hop.wait('activator', 10);
  hop.wait('queue', 14);
  expect(hop.sent(15, 'export-1')).toBe(1_015);
  expect(hop.waits).toEqual([
    { waitFor: 'activator', fromMs: 10, untilMs: 14 },
    { waitFor: 'queue', fromMs: 14, untilMs: 15 },
  ]);
  expect(hop.replica).toBe('export-1');
  expect(hop.enteredMs).toBe(10);
});

test('a wait without length leaves none; the same wait again goes on', () => {
  const hop = notes();
  hop.wait('activator', 10);
  hop.wait('activator', 12);
  hop.wait('queue', 13);
  hop.sent(13);
  expect(hop.waits).toEqual([{ waitFor: 'activator', fromMs: 10, untilMs: 13 }]);
});

test('a request that is sent elsewhere waits again; one that is given up ends its wait', () => {
  const hop = notes();
  hop.wait('queue', 1);
  hop.sent(2, 'export-1');
  hop.wait('activator', 5);
  hop.over(9);
  hop.over(11);
  expect(hop.waits.map(({ fromMs, untilMs }) => [fromMs, untilMs])).toEqual([
    [1, 2],
    [5, 9],
  ]);
});
