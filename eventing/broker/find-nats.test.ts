import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { NatsSearchOptions } from './find-nats.ts';
import { explainNats, findNats } from './find-nats.ts';
import type { NatsRelease } from './nats-release.ts';
import { isAtLeast, readNatsRelease, releasePlatform, versionOf } from './nats-release.ts';

const release: NatsRelease = {
  minimumVersion: '2.10.0',
  download: { version: '2.14.5', url: 'http://127.0.0.1:9/{version}/{platform}', sha256: {} },
  module: { path: 'example.test/none', version: 'v2.15.2' },
};

/** A folder with a program that calls itself nats-server of a version. */
async function folderWith(version: string | undefined, name = 'nats-server'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tachograph-find-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  if (version !== undefined) {
    await writeFile(join(folder, name), `#!/bin/sh\necho nats-server: v${version}\n`);
    await chmod(join(folder, name), 0o755);
  }
  return folder;
}

const search = async (changes: Partial<NatsSearchOptions>): ReturnType<typeof findNats> =>
  findNats({
    natsUrl: undefined,
    searchPath: '',
    cacheDir: await folderWith(undefined),
    release,
    platform: 'linux-amd64',
    install: false,
    ...changes,
  });

test('findNats takes NATS_URL first when something answers there', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const natsUrl = `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const found = await search({ natsUrl, searchPath: await folderWith('2.10.0') });
  expect(found).toEqual({
    url: natsUrl,
    attempts: [{ source: 'NATS_URL', ok: true, detail: natsUrl }],
  });
});

test('findNats passes over an old server on the PATH and a dead URL, and says so', async () => {
  const [old, good] = [await folderWith('2.9.10'), await folderWith('2.10.0')];
  const found = await search({ natsUrl: 'nats://127.0.0.1:9', searchPath: `${old}::${good}` });
  expect(found).toMatchObject({ binary: join(good, 'nats-server'), version: '2.10.0' });
  expect(explainNats(found)).toMatch(/^NATS_URL: cannot connect to 127.0.0.1: .*; PATH: /);
});

test('findNats takes the cached binary when the PATH has only an old one', async () => {
  const old = await folderWith('2.9.10');
  const cacheDir = await folderWith('2.15.2', 'nats-server-2.15.2');
  const found = await search({ searchPath: old, cacheDir });
  expect(found.binary).toBe(join(cacheDir, 'nats-server-2.15.2'));
  expect(
    found.attempts.map(({ source, ok, detail }) => [source, ok, detail.split(' ')[0]]),
  ).toEqual([
    ['NATS_URL', false, 'not'],
    ['PATH', false, join(old, 'nats-server')],
    ['cache', true, join(cacheDir, 'nats-server-2.15.2')],
  ]);
});

test('findNats that may only look names what could be done', async () => {
  const sha256 = { 'linux-amd64': 'ab' };
  const found = await search({
    release: { ...release, download: { ...release.download, sha256 } },
  });
  expect(found.binary).toBeUndefined();
  expect(explainNats(found)).toContain('download: possible: nats-server 2.14.5');
});

test('findNats never downloads for a platform without a checksum', async () => {
  const found = await search({ install: false, platform: 'plan9-mips' });
  expect(explainNats(found)).toContain('no checksum is pinned for plan9-mips');
});

test('findNats refuses a download with another checksum and leaves nothing behind', async () => {
  const server = createServer((_, response) => void response.end('not what was pinned'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const cacheDir = join(await folderWith(undefined), 'deep', 'cache');
  await mkdir(cacheDir, { recursive: true });
  const { port } = server.address() as AddressInfo;
  const found = await search({
    install: true,
    cacheDir,
    release: {
      ...release,
      download: {
        version: '2.14.5',
        url: `http://127.0.0.1:${port}/{version}-{platform}.tar.gz`,
        sha256: { 'linux-amd64': 'ab'.repeat(32) },
      },
    },
  });
  expect(found.attempts.find(({ source }) => source === 'download')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/2\.14\.5-linux-amd64\.tar\.gz has SHA-256 [0-9a-f]{64}, pinned/),
  });
  expect(await readdir(cacheDir)).toEqual([]);
});

test('the pinned release is complete and its hashes are hashes', async () => {
  const pinned = await readNatsRelease();
  expect(isAtLeast(pinned.download.version, pinned.minimumVersion)).toBe(true);
  expect(pinned.download.url).toMatch(/^https:.*\{version\}.*\{platform\}/);
  for (const hash of Object.values(pinned.download.sha256)) expect(hash).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ['2.10.0', true],
  ['2.9.25', false],
  ['2.100.1', true],
  ['3.0.0', true],
  ['2.10', true],
])('isAtLeast of %s against 2.10.0 is %s', (version, expected) => {
  expect(isAtLeast(version, '2.10.0')).toBe(expected);
});

test('versionOf and releasePlatform read what the tools say', () => {
  expect(versionOf('nats-server: v2.15.2\n')).toBe('2.15.2');
  expect(versionOf('nats-server: v2.12.0-RC.1')).toBe('2.12.0');
  expect(versionOf('something else')).toBeUndefined();
  expect(releasePlatform('linux', 'x64')).toBe('linux-amd64');
  expect(releasePlatform('darwin', 'arm64')).toBe('darwin-arm64');
});
