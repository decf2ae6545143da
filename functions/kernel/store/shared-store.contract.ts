import { expect, test } from 'vitest';
import { batchId } from '../core/ids.ts';
import { systemClock } from '../system/system-clock.ts';
import { openStore } from './open-store.ts';
import { startWriter } from './testing/writer-process.ts';

const WRITERS = 8;
const FACTS = 100;

/** What every adapter must do that several processes share. `freshUrl` names an empty store. */
export function sharedStoreContract(name: string, freshUrl: () => string): void {
  test(`${name}: of ${WRITERS} processes inserting the same ids, one creates each`, async () => {
    const url = freshUrl();
    const starting = Array.from({ length: WRITERS }, () => startWriter(url, FACTS, 200));
    const writers = await Promise.all(starting);
    for (const writer of writers) writer.start();
    const lines = (await Promise.all(writers.map((writer) => writer.rest()))).flat();
    const created = lines.filter((line) => line.endsWith(' created'));
    const same = lines.filter((line) => line.endsWith(' exists same'));
    expect(new Set(created).size).toBe(FACTS);
    expect(created).toHaveLength(FACTS);
    expect(same).toHaveLength(FACTS * (WRITERS - 1));
  });

  test(`${name}: what was acknowledged before a kill -9 is there afterwards`, async () => {
    const url = freshUrl();
    const writer = await startWriter(url, 1_000_000, 2_000);
    writer.start();
    let acknowledged = -1;
    while (acknowledged < 200) {
      const line = await writer.nextLine();
      acknowledged = Number(line?.split(' ')[0]);
    }
    await writer.kill();
    const store = await openStore(url, systemClock);
    for (let seq = 0; seq <= acknowledged; seq++) {
      const body = new Uint8Array(2_000).fill(seq);
      expect(await store.get('batches', batchId('v', 's', seq))).toEqual({ seq, body });
    }
    await store.close();
  });
}
