import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sourceHash } from './source-hash.ts';

let root = '';
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tachograph-sources-'));
  for (const path of ['functions/a/main.ts', 'eventing/b.ts', 'infra/bundle/c.ts', 'other/d.ts']) {
    write(path, `// ${path}`);
  }
  for (const path of ['package.json', 'package-lock.json']) write(path, '{}');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const hash = (entry = 'functions/a/main.ts', version = 'v24.0.0') =>
  sourceHash(root, [entry], version);

test.each([
  ['functions/a/main.ts', '// changed'],
  ['functions/a/new.ts', ''],
  ['eventing/b.ts', '// changed'],
  ['infra/bundle/c.ts', '// changed'],
  ['package.json', '{"type":"module"}'],
  ['package-lock.json', '{"a":1}'],
])('sourceHash is another one when %s changes', async (path, text) => {
  const before = await hash();
  expect(before).toMatch(/^[0-9a-f]{16}$/);
  write(path, text);
  expect(await hash()).not.toBe(before);
});

test.each([
  ['functions/a/main.test.ts', 'a test'],
  ['functions/a/service.yaml', 'a manifest'],
  ['other/d.ts', '// changed'],
])('sourceHash stays when %s changes, which no bundle contains', async (path, text) => {
  const before = await hash();
  write(path, text);
  expect(await hash()).toBe(before);
});

test('sourceHash is of the entry’s folder too, and of the version of Node', async () => {
  const before = await hash('other/d.ts');
  expect(await hash()).not.toBe(before);
  expect(await hash('other/d.ts', 'v24.0.1')).not.toBe(before);
  write('other/d.ts', '// changed');
  expect(await hash('other/d.ts')).not.toBe(before);
});
