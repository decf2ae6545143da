import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { inflateBody } from './inflate.ts';

const text = Buffer.from('tachograph '.repeat(50));
const refusal = (code: string) => expect.objectContaining({ code });

test.each([
  ['gzip', gzipSync(text)],
  ['GZIP ', gzipSync(text)],
  ['zstd', zstdCompressSync(text)],
  ['identity', text],
  ['', text],
  [undefined, text],
])('inflateBody of %s gives the body', async (encoding, body) => {
  expect(Buffer.from(await inflateBody(body, encoding))).toEqual(text);
});

test.each([
  ['gzip', gzipSync('')],
  ['zstd', zstdCompressSync('')],
  ['identity', Buffer.alloc(0)],
])('inflateBody of nothing as %s is empty', async (encoding, body) => {
  expect(await inflateBody(body, encoding)).toHaveLength(0);
});

test('inflateBody of gzip in two members gives both', async () => {
  const body = Buffer.concat([gzipSync('a'), gzipSync('b')]);
  expect(Buffer.from(await inflateBody(body, 'gzip')).toString()).toBe('ab');
});

test.each([
  ['gzip', gzipSync(text)],
  ['zstd', zstdCompressSync(text)],
] as const)('inflateBody of %s cut short anywhere is refused', async (encoding, whole) => {
  for (let length = 0; length < whole.length; length++) {
    const cut = inflateBody(whole.subarray(0, length), encoding);
    await expect(cut, `${length} bytes`).rejects.toThrow(refusal('BODY_COMPRESSION_INVALID'));
  }
});

test.each([
  ['gzip', Buffer.concat([gzipSync(text), Buffer.from('xx')])],
  ['gzip', Buffer.concat([gzipSync(text), Buffer.alloc(4)])],
  ['zstd', Buffer.concat([zstdCompressSync(text), Buffer.from('xx')])],
  ['zstd', Buffer.concat([zstdCompressSync(text), zstdCompressSync(text)])],
])('inflateBody of %s with something behind its end is refused', async (encoding, body) => {
  await expect(inflateBody(body, encoding)).rejects.toThrow(refusal('BODY_COMPRESSION_INVALID'));
});

test.each([
  ['gzip', text],
  ['gzip', deflateRawSync(text)],
  ['zstd', gzipSync(text)],
])('inflateBody of what is not %s is refused', async (encoding, body) => {
  await expect(inflateBody(body, encoding)).rejects.toThrow(refusal('BODY_COMPRESSION_INVALID'));
});

test.each(['br', 'deflate', 'gzip, gzip', '*'])(
  'inflateBody of the encoding %s is refused',
  async (encoding) => {
    await expect(inflateBody(text, encoding)).rejects.toThrow(refusal('BODY_ENCODING_UNKNOWN'));
  },
);

test.each(['gzip', 'zstd', 'identity'])(
  'inflateBody of %s at the limit is whole, above it refused',
  async (encoding) => {
    const pack = { gzip: gzipSync, zstd: zstdCompressSync, identity: (body: Buffer) => body }[
      encoding
    ];
    const body = pack?.(Buffer.alloc(1_000)) ?? Buffer.alloc(0);
    expect(await inflateBody(body, encoding, 1_000)).toHaveLength(1_000);
    const refused = inflateBody(body, encoding, 999);
    await expect(refused).rejects.toThrow(refusal('BODY_INFLATED_TOO_LARGE'));
  },
);

test('inflateBody of a gzip bomb that lies about its length is stopped on the way', async () => {
  const bomb = gzipSync(Buffer.alloc(100_000));
  bomb.writeUInt32LE(10, bomb.length - 4);
  await expect(inflateBody(bomb, 'gzip', 1_000)).rejects.toThrow(
    refusal('BODY_INFLATED_TOO_LARGE'),
  );
});

test('inflateBody of a gzip whose length is wrong is refused', async () => {
  const body = gzipSync(text);
  body.writeUInt32LE(text.length + 1, body.length - 4);
  await expect(inflateBody(body, 'gzip')).rejects.toThrow(refusal('BODY_COMPRESSION_INVALID'));
});

test('inflateBody of zstd that tells a large content is refused before inflating', async () => {
  // Magic, single segment with 4 bytes of size: 2^31; no block follows.
  const body = Buffer.from('28b52ffda000000080', 'hex');
  await expect(inflateBody(body, 'zstd')).rejects.toThrow(refusal('BODY_INFLATED_TOO_LARGE'));
});

test('inflateBody of zstd with a window beyond 16 MiB is refused', async () => {
  // Window descriptor 0x88: exponent 17, 2^(10+17) bytes. One last raw block with one byte.
  const body = Buffer.from('28b52ffd008809000061', 'hex');
  await expect(inflateBody(body, 'zstd')).rejects.toThrow('too much memory');
  // 0x70: exponent 14, 2^24 bytes, the largest allowed.
  body[5] = 0x70;
  expect(Buffer.from(await inflateBody(body, 'zstd')).toString()).toBe('a');
});
