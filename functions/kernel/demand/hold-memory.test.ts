import { expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { holdMemory, type MemoryParts } from './hold-memory.ts';

const MIB = 1024 * 1024;

/** Records what was allocated; CPU time passes only when the test says so. */
function parts(overrides: Partial<MemoryParts> = {}) {
  const clock = new VirtualClock();
  const blocks: Uint8Array[] = [];
  const all: MemoryParts = {
    clock,
    cpuMs: () => 0,
    turn: async () => undefined,
    allocate: (bytes) => {
      const block = new Uint8Array(bytes);
      blocks.push(block);
      return block;
    },
    ...overrides,
  };
  return { clock, blocks, parts: all };
}

const request = (bytes: number) => ({ place: 'before' as const, bytes, holdMs: 500 });
const live = (): AbortSignal => new AbortController().signal;

/** Lets the pages be touched, until the time of holding begins. */
async function untilAsleep(clock: VirtualClock): Promise<void> {
  while (clock.sleeping === 0) await Promise.resolve();
}

test('holdMemory touches every page, holds for the time asked, and reports it', async () => {
  const { clock, blocks, parts: all } = parts();
  const holding = holdMemory(request(9 * MIB + 1), all, live());
  await untilAsleep(clock);
  await clock.advance(500);
  expect(await holding).toMatchObject({
    kind: 'memory',
    nominal: 9 * MIB + 1,
    wallMs: 500,
    aborted: false,
  });
  const touched = blocks[0]?.filter((_, index) => index % 4096 === 0);
  expect(touched).toHaveLength((9 * MIB) / 4096 + 1);
  expect(touched?.every((byte) => byte === 1)).toBe(true);
});

test('holdMemory gives the event loop a turn every 4 MiB and leaves its CPU time out', async () => {
  let cpu = 0;
  let turns = 0;
  const { clock, parts: all } = parts({
    // 1 ms for each span between two readings.
    cpuMs: () => cpu++,
    turn: async () => {
      turns++;
      cpu += 100;
    },
  });
  const holding = holdMemory(request(12 * MIB), all, live());
  await untilAsleep(clock);
  await clock.advance(500);
  expect((await holding).cpuMs).toBe(3);
  expect(turns).toBe(3);
});

test('holdMemory ends when the caller goes, while it touches or while it holds', async () => {
  const touching = new AbortController();
  const early = parts({ turn: async () => touching.abort() });
  const cut = await holdMemory(request(64 * MIB), early.parts, touching.signal);
  expect(cut).toMatchObject({ aborted: true, wallMs: 0 });
  expect(early.blocks[0]?.[4 * MIB]).toBe(0);

  const waiting = new AbortController();
  const late = parts();
  const holding = holdMemory(request(MIB), late.parts, waiting.signal);
  await untilAsleep(late.clock);
  await late.clock.advance(100);
  waiting.abort();
  expect(await holding).toMatchObject({ aborted: true, wallMs: 100 });
});

test('holdMemory without memory asks the caller to try again', async () => {
  const { parts: all } = parts({
    allocate: () => {
      throw new RangeError('Array buffer allocation failed');
    },
  });
  await expect(holdMemory(request(MIB), all, live())).rejects.toMatchObject({
    code: 'DEMAND_MEMORY_SHORT',
    kind: 'retry',
  });
});

test('holdMemory of nothing holds nothing', async () => {
  const { clock, parts: all } = parts();
  const holding = holdMemory(request(0), all, live());
  await untilAsleep(clock);
  await clock.advance(500);
  expect(await holding).toMatchObject({ nominal: 0, aborted: false });
});
