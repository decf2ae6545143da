import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openRunQueue, parseInvoluntarySwitches, parseReadyMs } from './run-queue.ts';

test.each([
  ['834954 367280 2\n', 0.36728],
  ['0 0 0\n', 0],
  ['', null],
  ['not a line', null],
])('parseReadyMs of %j is %j', (line, ms) => {
  expect(parseReadyMs(line)).toBe(ms);
});

test('parseInvoluntarySwitches reads the involuntary ones, not the voluntary ones', () => {
  const page = 'Name:\tnode\nvoluntary_ctxt_switches:\t28\nnonvoluntary_ctxt_switches:\t70\n';
  expect(parseInvoluntarySwitches(page)).toBe(70);
  expect(parseInvoluntarySwitches('Name:\tnode\n')).toBe(0);
});

test.each(['main', 'worker'] as const)(
  'openRunQueue of a %s thread never counts back',
  (thread) => {
    const queue = openRunQueue(thread);
    const [ready, switches] = [queue.readyMs(), queue.involuntarySwitches()];
    expect(ready === null).toBe(!existsSync('/proc/thread-self/schedstat'));
    expect(queue.readyMs() ?? 0).toBeGreaterThanOrEqual(ready ?? 0);
    expect(queue.involuntarySwitches()).toBeGreaterThanOrEqual(switches);
    queue.close();
  },
);
