import { expect, test } from 'vitest';
import { FileHashes } from './file-hashes.ts';

test('FileHashes + more than 4,096 files forgets the oldest and stays in its bound', () => {
  const hashes = new FileHashes();
  for (let at = 0; at < 4_097; at++) hashes.set(`key ${at}`, `hash ${at}`);
  expect(hashes.size).toBe(4_096);
  expect(hashes.get('key 0')).toBeUndefined();
  expect(hashes.get('key 4096')).toBe('hash 4096');
});
