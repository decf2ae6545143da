import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommandLine } from './command-line.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tachograph-run-'));
});
afterEach(() => rm(root, { recursive: true }));

/** Nothing is started by any of these: the fault is found before. */
async function call(...args: readonly string[]) {
  let err = '';
  const code = await runCommandLine(['run', ...args], {
    root,
    env: {},
    stdout: { write: () => true },
    stderr: { write: (text: string) => (err += text) },
    signal: new AbortController().signal,
  });
  return { code, err };
}

const EXPERIMENT = `apiVersion: tachograph/v1
kind: Run
name: example
load: { profile: emulated, arrivals: { constant: { ratePerS: 1 } }, durationS: 1 }
arms: [{ name: kpa, policy: kpa }]
`;

test('run without a file, or with one that is not there: says so, exit code 1', async () => {
  expect(await call()).toMatchObject({ code: 1, err: expect.stringContaining('step.yaml') });
  const missing = join(root, 'nowhere.yaml');
  const { code, err } = await call(missing);
  expect(code).toBe(1);
  expect(err).toContain('nowhere.yaml: there is no such file');
});

test('run of a file with a fault: names it by its path in the repository, with line and path', async () => {
  const path = join(root, 'bad.yaml');
  await writeFile(path, EXPERIMENT.replace('ratePerS', 'rate'));
  const { code, err } = await call(path);
  expect(code).toBe(1);
  expect(err).toContain('tachograph: bad.yaml:4: load.arrivals.constant.rate: "rate" is not known');
});

test.each([
  ['--policy', 'kp', 'did you mean kpa?'],
  ['--policy', 'mine', 'the path of a policy'],
  ['--seed', '-1', 'use an integer from 0 to 999999999'],
])('run %s %s: wrong usage, exit code 2', async (option, value, message) => {
  const path = join(root, 'good.yaml');
  await writeFile(path, EXPERIMENT);
  const { code, err } = await call(path, `${option}=${value}`);
  expect(code).toBe(2);
  expect(err).toContain(message);
});
