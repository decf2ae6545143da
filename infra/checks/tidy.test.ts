import { expect, test } from 'vitest';
import { sourceFiles } from './source-files.ts';
import { TIDY_RULES, untidy } from './tidy.ts';

test('every file keeps the house rules', () => {
  const files = sourceFiles(/\.(ts|js|md|ya?ml|json|sh|py|go|npmrc)$|Makefile$|^\.ci\/run$/);
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap(untidy)).toEqual([]);
});

const PLANTED: readonly (readonly [rule: string, path: string, text: string])[] = [
  ['clock', 'loadtest/x.ts', 'const now = Date.now();'],
  ['chance', 'loadtest/x.ts', 'const dice = Math.random();'],
  ['environment', 'eventing/x.ts', "const home = process.env['HOME'];"],
  ['sleeping test', 'eventing/x.test.ts', 'setTimeout(done, 10);'],
  ['focused test', 'eventing/x.test.ts', "test.only('x', () => {});"],
  ['swallowed error', 'eventing/x.ts', 'try { a(); } catch {}'],
  ['reminder', 'docs/x.md', '# Title\nTODO'],
  ['machine path', 'eventing/x.ts', "const path = '/root/x';"],
  ['registry host', '.ci/run', 'curl https://proxy.golang.org'],
  ['bare time unit', 'eventing/x.ts', 'const timeout = 500;'],
];

test.each(PLANTED)('untidy finds a planted violation: %s', (rule, path, text) => {
  const found = untidy({ path, text });
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(`${rule}:`);
});

test('every rule has a planted violation', () => {
  expect(PLANTED.map(([rule]) => rule)).toEqual(TIDY_RULES.map((rule) => rule.name));
});

test.each([
  ['functions/kernel/utils.ts', ''],
  ['functions/kernel/common/x.ts', ''],
  ['cli/long.ts', 'a\n'.repeat(402)],
  ['cli/wide.ts', 'a'.repeat(121)],
  ['docs/two.md', '# One\n\n# Two\n'],
  ['docs/none.md', 'text\n'],
])('untidy finds a badly shaped file: %s', (path, text) => {
  expect(untidy({ path, text })).toHaveLength(1);
});
