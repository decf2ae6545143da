import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { manifestFiles } from './manifest-files.ts';
import { MAX_YAML_BYTES } from './parse-yaml.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function repository(): string {
  const root = mkdtempSync(join(tmpdir(), 'tachograph-files-'));
  folders.push(root);
  mkdirSync(join(root, 'base'));
  writeFileSync(join(root, 'base/a.yaml'), 'from: disk');
  return root;
}

const at = { file: 'x.yaml', line: 1 };

test('manifestFiles with extra files reads them as if they were on the disk', async () => {
  const files = await manifestFiles(repository(), { 'arm/deep/k.yaml': 'from: memory' });
  expect(await files.resolve('', 'arm', at)).toBe('arm');
  expect(await files.resolve('arm/deep', './k.yaml', at)).toBe('arm/deep/k.yaml');
  expect(await files.resolve('arm/deep', '../../base/a.yaml', at)).toBe('base/a.yaml');
  expect(await files.resolve('base', '../arm/deep', at)).toBe('arm/deep');
  expect(await files.isFolder('arm/deep')).toBe(true);
  expect(await files.isFolder('arm/deep/k.yaml')).toBe(false);
  expect(await files.exists('arm/deep/k.yaml')).toBe(true);
  expect(await files.read('arm/deep/k.yaml', at)).toBe('from: memory');
});

test('an extra file lies over the one on the disk, and leaves its neighbours', async () => {
  const root = repository();
  writeFileSync(join(root, 'base/b.yaml'), 'beside: disk');
  const files = await manifestFiles(root, { 'base/a.yaml': 'from: memory' });
  expect(await files.read('base/a.yaml', at)).toBe('from: memory');
  expect(await files.read('base/b.yaml', at)).toBe('beside: disk');
  expect(await files.isFolder('base')).toBe(true);
});

test('manifestFiles without extra files has what is on the disk alone', async () => {
  const files = await manifestFiles(repository());
  expect(await files.exists('arm')).toBe(false);
  await expect(files.resolve('', 'arm', at)).rejects.toThrow('x.yaml:1: "arm" does not exist');
});

test('an extra file makes no way out of the repository', async () => {
  const files = await manifestFiles(repository(), { '../outside.yaml': 'a: 1' });
  await expect(files.resolve('base', '../../outside.yaml', at)).rejects.toThrow(
    /leads out of the repository|does not exist/,
  );
});

test('a file at the size limit is read, one byte more is refused, also an extra one', async () => {
  const whole = 'x'.repeat(MAX_YAML_BYTES);
  const root = repository();
  writeFileSync(join(root, 'base/a.yaml'), whole);
  writeFileSync(join(root, 'base/b.yaml'), `${whole}x`);
  const files = await manifestFiles(root, { 'c.yaml': whole, 'd.yaml': `${whole}x` });
  expect(await files.read('base/a.yaml', at)).toBe(whole);
  expect(await files.read('c.yaml', at)).toBe(whole);
  const message = `has ${MAX_YAML_BYTES + 1} bytes; at most ${MAX_YAML_BYTES} are read`;
  await expect(files.read('base/b.yaml', at)).rejects.toThrow(message);
  await expect(files.read('d.yaml', at)).rejects.toThrow(message);
});
