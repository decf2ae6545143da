import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import type { Store } from '#kernel/store/store.ts';
import type { Log } from '#kernel/system/log.ts';
import { silentLog } from '#kernel/system/log.ts';
import { CampaignBook, MAX_CAMPAIGNS } from './campaign-book.ts';
import { putCampaign } from './testing/stage-fixture.ts';

test('newest is read anew after a second, or when forgotten', async () => {
  const [store, clock] = [memoryStore(), new VirtualClock()];
  const book = new CampaignBook(store, clock, silentLog);
  const version = async (): Promise<number | undefined> => (await book.newest('brakes'))?.version;
  expect(await version()).toBeUndefined();
  await putCampaign(store, 1, 'draft');
  await clock.advance(1_000);
  expect(await version()).toBe(1);
  await putCampaign(store, 2, 'running');
  expect(await version()).toBe(1);
  book.forget('brakes');
  expect(await version()).toBe(2);
});

test('version that exists is read once, one that does not is looked for again', async () => {
  const [store, clock] = [memoryStore(), new VirtualClock()];
  let reads = 0;
  const counting: Store = { ...store, get: (...of) => (reads++, store.get(...of)) };
  const book = new CampaignBook(counting, clock, silentLog);
  expect(await book.version('brakes', 1)).toBeUndefined();
  await putCampaign(store, 1, 'draft');
  expect((await book.version('brakes', 1))?.state).toBe('draft');
  expect((await book.version('brakes', 1))?.state).toBe('draft');
  expect(reads).toBe(2);
});

test('all of 5,001 campaigns is 5,000, and says so', async () => {
  const store = memoryStore();
  const name = (index: number): string => `c${String(index).padStart(5, '0')}`;
  const one = await putCampaign(store, 1, 'running', {}, name(0));
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  // From c05000 down to c00000: the first name is reached last, and goes missing.
  let index = MAX_CAMPAIGNS + 1;
  const campaigns: Store = {
    ...store,
    range: (_collection, _from, to) => {
      if (index <= MAX_CAMPAIGNS) expect(to).toBe(`${name(index)}/`);
      const campaign = name(--index);
      const document = { ...one, campaign } as never;
      return Promise.resolve([{ id: `${campaign}/000001`, document }]);
    },
  };
  const all = await new CampaignBook(campaigns, new VirtualClock(), log).all();
  expect(all).toHaveLength(MAX_CAMPAIGNS);
  expect(all.at(-1)?.campaign).toBe(name(1));
  expect(warnings).toEqual(['more campaigns than are offered']);
});
