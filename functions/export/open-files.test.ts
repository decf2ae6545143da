import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { FolderFiles } from './folder-files.ts';
import { openFiles } from './open-files.ts';
import { StoreFiles } from './store-files.ts';

test('openFiles + the two URLs give a folder and the store', () => {
  const [store, clock] = [memoryStore(), new VirtualClock()];
  expect(openFiles('store:', store, clock)).toBeInstanceOf(StoreFiles);
  expect(openFiles('folder:/tmp/x', store, clock)).toBeInstanceOf(FolderFiles);
});

test.each(['', 'folder:', '/tmp/x', 's3://bucket', 'store:x'])(
  'openFiles + %j is refused and names what is known',
  (url) => {
    expect(() => openFiles(url, memoryStore(), new VirtualClock())).toThrow(
      'use folder:PATH or store:',
    );
  },
);
