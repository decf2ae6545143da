import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { parseDemands } from './parse-demand.ts';
import { createPayloadNoise } from './payload-noise.ts';

const noiseOf = (text: string) => createPayloadNoise(parseDemands(text));

test('bytesFor gives the same bytes for the same fact in every process', () => {
  const text = 'payload:exponential(mean=4KiB)@after';
  const one = noiseOf(text).bytesFor('after', 'v1/s1/00000042');
  expect(noiseOf(text).bytesFor('after', 'v1/s1/00000042')).toEqual(one);
  expect(noiseOf(text).bytesFor('after', 'v1/s1/00000043')).not.toEqual(one);
});

test('bytesFor has the size asked, of the place asked', () => {
  const noise = noiseOf('payload:2KiB@after payload:1KiB@after payload:5B@before');
  expect(noise.bytesFor('after', 'k')).toHaveLength(3072);
  expect(noise.bytesFor('before', 'k')).toHaveLength(5);
  expect(noise.bytesFor('instead', 'k')).toHaveLength(0);
});

test('bytesFor cannot be compressed', () => {
  const bytes = noiseOf('payload:256KiB@after').bytesFor('after', 'k');
  expect(deflateRawSync(bytes).length).toBeGreaterThan(bytes.length);
});

test('bytesFor never gives more than a document may hold', () => {
  const noise = noiseOf('payload:8MiB@after payload:8MiB@after');
  expect(noise.bytesFor('after', 'k')).toHaveLength(8 * 1024 * 1024);
  const [wide] = parseDemands('payload:exponential(mean=8MiB)@after');
  if (wide?.kind !== 'payload') throw new Error('not a payload');
  const { sizeOf } = createPayloadNoise([wide]);
  const sizes = Array.from({ length: 50 }, (_, index) => sizeOf(wide, `${index}`));
  expect(Math.max(...sizes)).toBe(8 * 1024 * 1024);
  expect(Math.min(...sizes)).toBeLessThan(8 * 1024 * 1024);
});
