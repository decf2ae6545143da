import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { memoryStore } from '#kernel/store/memory-store.ts';
import type { Store } from '#kernel/store/store.ts';
import { csvTableOf } from './testing/read-tables.ts';
import {
  bytesBelow,
  COMPACTED,
  filesBelow,
  newRoot,
  replica,
  sidecarIn,
} from './testing/replica.ts';
import {
  insertRecording,
  insertSession,
  insertWindow,
  sessionEvent,
  windowContent,
  windowEvent,
} from './testing/session-facts.ts';

const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

function rootFolder(): string {
  const root = newRoot();
  roots.push(root);
  return root;
}

test('export stage + every event delivered again repeats the announcements and no bytes', async () => {
  const store = memoryStore();
  await insertRecording(store, 2);
  const { folder, handle, emitted } = replica(store, rootFolder());
  await handle(windowEvent(0));
  const part = bytesBelow(folder);
  await handle(windowEvent(0));
  expect(bytesBelow(folder)).toEqual(part);
  await handle(windowEvent(1));
  await insertSession(store, [1, 1]);
  await handle(sessionEvent());
  const compacted = bytesBelow(folder);
  const announced = new Set(emitted.map(({ factId }) => factId));
  for (const event of [windowEvent(0), windowEvent(1), sessionEvent()]) await handle(event);
  expect(bytesBelow(folder)).toEqual(compacted);
  expect(new Set(emitted.map(({ factId }) => factId))).toEqual(announced);
});

test('export stage + a crash between the part and its fact is made good by the redelivery', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  const { folder, handle } = replica(store, rootFolder());
  const broken = { ...store, insert: () => Promise.reject(new Error('the process dies here')) };
  await expect(handle(windowEvent(0), { store: broken })).rejects.toThrow('dies here');
  const part = bytesBelow(folder);
  expect(Object.keys(part)).toHaveLength(6);
  expect(await store.get('exports', 'v1/s1/00000000/0001')).toBeUndefined();
  await handle(windowEvent(0));
  expect(bytesBelow(folder)).toEqual(part);
  expect(await store.get('exports', 'v1/s1/00000000/0001')).toBeDefined();
});

test('export stage + a crash before the removal of the parts is made good by the redelivery', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  const { folder, handle, emitted } = replica(store, rootFolder());
  await handle(windowEvent(0));
  await insertSession(store, [1]);
  const dying: Store = {
    ...store,
    insert: async (...given) => {
      await store.insert(...given);
      throw new Error('the process dies here');
    },
  };
  await expect(handle(sessionEvent(), { store: dying })).rejects.toThrow('dies here');
  expect(filesBelow(folder)).toContain('parts/00000000-0001/recorded/can0-MOTION.csv');
  await handle(sessionEvent());
  expect(filesBelow(folder)).toEqual(COMPACTED);
  expect(emitted.at(-1)?.factId).toBe('v1/s1/session/0001');
});

test('export stage + an announcement that fails is repeated by the redelivery', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  const { handle, emitted } = replica(store, rootFolder());
  const away = { emit: () => Promise.reject(new Error('the broker is away')) };
  await expect(handle(windowEvent(0), away)).rejects.toThrow('away');
  await handle(windowEvent(0));
  expect(emitted.map(({ factId }) => factId)).toEqual(['v1/s1/00000000/0001']);
});

test('export stage + four replicas compacting at once leave the files of one', async () => {
  const store = memoryStore();
  await insertRecording(store, 3);
  await insertSession(store, [1, 1, 1]);
  const alone = replica(store, rootFolder());
  await alone.handle(sessionEvent());
  const root = rootFolder();
  const replicas = Array.from({ length: 4 }, () => replica(store, root));
  await Promise.all(
    replicas.flatMap(({ handle }, at) => [handle(windowEvent(at % 3)), handle(sessionEvent())]),
  );
  const folder = join(root, 'v1', 's1');
  expect(filesBelow(folder)).toEqual(COMPACTED);
  expect(bytesBelow(folder)).toEqual(bytesBelow(alone.folder));
  expect(readdirSync(join(root, '+unpublished'))).toEqual([]);
});

test('export stage + an old closing that is overtaken while it is written gives way to the newer', async () => {
  const store = memoryStore();
  await insertRecording(store, 2);
  await insertSession(store, [1, 1]);
  const { folder, handle, emitted } = replica(store, rootFolder());
  let overtaken = false;
  const overtaking: Store = {
    ...store,
    range: async (collection, from, to, options) => {
      // The receipts are read last, for the sidecar: late data closes the session again just then.
      if (collection === 'receipts' && !overtaken) {
        overtaken = true;
        await insertWindow(store, 0, 2, windowContent(0, 3));
        await insertSession(store, [2, 1], 2);
      }
      return store.range(collection, from, to, options);
    },
  };
  await handle(sessionEvent(), { store: overtaking });
  expect(overtaken).toBe(true);
  expect(sidecarIn(folder)['revision']).toBe(2);
  expect(emitted.map(({ factId }) => factId)).toEqual(['v1/s1/session/0002']);
});

test('export stage + an old closing published over a newer one is put right by its own replica', async () => {
  const store = memoryStore();
  await insertRecording(store, 2);
  await insertSession(store, [1, 1]);
  const fresh = replica(store, rootFolder());
  const stale = replica(store, fresh.root);
  let asked = 0;
  const slow: Store = {
    ...store,
    range: async (collection, from, to, options) => {
      const found = await store.range(collection, from, to, options);
      // Its second look at the session is the one before it renames: the other replica, with the next
      // closing, does all its work between that look and the renaming.
      if (collection === 'sessions' && ++asked === 2) {
        await insertWindow(store, 0, 2, windowContent(0, 3));
        await insertSession(store, [2, 1], 2);
        await fresh.handle(sessionEvent(2));
        expect(sidecarIn(fresh.folder)['revision']).toBe(2);
      }
      return found;
    },
  };
  await stale.handle(sessionEvent(), { store: slow });
  expect(stale.emitted.map(({ factId }) => factId)).toEqual([
    'v1/s1/session/0001',
    'v1/s1/session/0002',
  ]);
  expect(sidecarIn(fresh.folder)['revision']).toBe(2);
  const { rows } = csvTableOf(readFileSync(join(fresh.folder, 'recorded', 'can0-MOTION.csv')));
  expect(rows[1]?.[1]).toBe(3);
});

test('export stage + a file of the newest closing that was damaged is written again', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  await insertSession(store, [1]);
  const { folder, handle } = replica(store, rootFolder());
  await handle(sessionEvent());
  const good = bytesBelow(folder);
  writeFileSync(join(folder, 'recorded', 'can0-ODO.csv'), 'stale bytes of an older closing');
  writeFileSync(join(folder, 'recorded', 'can0-OLD.csv'), 'of a message that is no more');
  await handle(sessionEvent());
  expect(bytesBelow(folder)).toEqual(good);
});

test('export stage + a part written while another replica compacts does not stay', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  await insertSession(store, [1]);
  const compacting = replica(store, rootFolder());
  const { handle } = replica(store, compacting.root);
  let compacted = false;
  const slow: Store = {
    ...store,
    range: async (collection, from, to, options) => {
      const found = await store.range(collection, from, to, options);
      // Read after it has seen that nothing is compacted, before it writes its part.
      if (collection === 'receipts' && !compacted) {
        compacted = true;
        await compacting.handle(sessionEvent());
      }
      return found;
    },
  };
  await handle(windowEvent(0), { store: slow });
  expect(compacted).toBe(true);
  expect(filesBelow(compacting.folder)).toEqual(COMPACTED);
  expect(await store.get('exports', 'v1/s1/00000000/0001')).toMatchObject({
    files: [],
    withSession: true,
  });
});

test('compactSession + late data that closes the session at every look asks to try again', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  let revision = 0;
  const restless: Store = {
    ...store,
    range: async (collection, from, to, options) => {
      if (collection === 'sessions') await insertSession(store, [1], ++revision);
      return store.range(collection, from, to, options);
    },
  };
  const { folder, handle } = replica(store, rootFolder());
  expect(await handle(sessionEvent(), { store: restless })).toMatchObject({ kind: 'retry' });
  // Two looks a round, eight rounds, and the first one.
  expect(revision).toBe(17);
  expect(filesBelow(folder)).toEqual([]);
});
