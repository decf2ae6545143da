import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { readEnvironment } from './environment.ts';

test('readEnvironment of the repository: this machine, with its commit', async () => {
  const environment = await readEnvironment('.', '2.12.0');
  expect(environment).toMatchObject({ node: process.version, natsServer: '2.12.0' });
  expect(environment.cores).toBeGreaterThan(0);
  expect(environment.gitCommit).toMatch(/^[0-9a-f]{40}$/);
  expect(typeof environment.gitDirty).toBe('boolean');
});

test('readEnvironment outside a repository: no commit, and not "clean" either', async () => {
  expect(await readEnvironment(tmpdir(), null)).toMatchObject({
    natsServer: null,
    gitCommit: null,
    gitDirty: null,
  });
});
