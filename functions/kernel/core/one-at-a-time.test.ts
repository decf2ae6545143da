import { expect, test } from 'vitest';
import { OneAtATime } from './one-at-a-time.ts';

test('OneAtATime + work on one key runs in turn, on another at once, and nothing is remembered', async () => {
  const turns = new OneAtATime();
  const log: string[] = [];
  let finish = (): void => {};
  const held = new Promise<void>((resolve) => (finish = resolve));
  const first = turns.run('a', async () => {
    log.push('a1 starts');
    await held;
    log.push('a1 ends');
  });
  const second = turns.run('a', async () => log.push('a2'));
  await turns.run('b', async () => log.push('b'));
  expect(log).toEqual(['a1 starts', 'b']);
  finish();
  await Promise.all([first, second]);
  expect(log).toEqual(['a1 starts', 'b', 'a1 ends', 'a2']);
  expect(turns.size).toBe(0);
});

test('OneAtATime + work that fails tells its caller and lets the next one run', async () => {
  const turns = new OneAtATime();
  const failing = turns.run('a', () => Promise.reject(new Error('no')));
  const next = turns.run('a', async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
  expect(turns.size).toBe(0);
});
