import { expect, test } from 'vitest';
import { tableLines } from './accuracy-lines.ts';
import { accuracyRow, allMet } from './accuracy-row.ts';
import type { BurnStand, Series } from './burn-stand.ts';
import { measureAccuracy, NEIGHBOURS, SIZES } from './measure-accuracy.ts';
import { type FakeMachine, fakeStand } from './testing/fake-stand.ts';

/** Measures fake machines, one for each condition; `events` is what happened outside the stands. */
async function measureFake(quiet: FakeMachine, busy: FakeMachine) {
  const machines = [quiet, busy];
  const events: string[] = [];
  const stands: ReturnType<typeof fakeStand>[] = [];
  const table = measureAccuracy({
    startStand: async (): Promise<BurnStand> => {
      events.push('stand');
      const stand = fakeStand(machines.shift() ?? {});
      stands.push(stand);
      return stand;
    },
    startNeighbours: async (count) => {
      events.push(`${count} neighbours`);
      return { stop: async () => void events.push('stopped') };
    },
    onProgress: () => {},
  });
  return { table: await table.catch((error: unknown) => error as Error), events, stands };
}

test('measureAccuracy: every size by every loop, quiet before busy; all is stopped', async () => {
  const { table, events, stands } = await measureFake({}, { readyPerMs: 1 });
  if (table instanceof Error) throw table;
  expect(events).toEqual(['stand', `${NEIGHBOURS} neighbours`, 'stand', 'stopped']);
  expect(table.rows).toHaveLength(2 * 5 * 4);
  expect(table.rows.map(({ n }) => n)).toContain(400);
  expect(stands.every(({ asked }) => asked.at(-1) === 'close')).toBe(true);
  expect(table.rows.at(-1)).toMatchObject({ condition: 'busy', loop: 'naive', nominalMs: 1000 });
  expect(table.rows.at(-1)?.readyShare).toBeCloseTo(0.5);
  expect(allMet(table)).toBe(true);
});

test('measureAccuracy: the loops take turns within a size, so that drift meets all alike', async () => {
  const { stands } = await measureFake({}, {});
  const loops = (stands[0]?.asked ?? [])
    .filter((text) => text.startsWith('200 x 1 ms'))
    .map((text) => text.split(' ').at(-1));
  const round = ['hybrid', 'open', 'wall', 'naive'];
  expect(loops).toEqual([...round, ...round]);
});

test('every number of bursts divides into the rounds', () => {
  expect(SIZES.every(({ n, rounds }) => n % rounds === 0)).toBe(true);
});

test('measureAccuracy without a usable clock: CPU_CLOCK_UNUSABLE, the stand is closed', async () => {
  const { table, stands } = await measureFake({ clockFault: 'pair: frozen' }, {});
  expect(table).toMatchObject({ code: 'CPU_CLOCK_UNUSABLE' });
  expect(stands[0]?.asked).toEqual(['close']);
});

test('measureAccuracy that fails beside the neighbours: they are stopped all the same', async () => {
  const { table, events } = await measureFake({}, { clockFault: 'pair: frozen' });
  expect(table).toBeInstanceOf(Error);
  expect(events.at(-1)).toBe('stopped');
});

const HYBRID = { condition: 'quiet', nominalMs: 50, loop: 'hybrid' } as const;
const bursts = (values: readonly number[]) => values.map((cpuMs) => ({ cpuMs, wallMs: 2 * cpuMs }));

test('accuracyRow: bias and CV of CPU time by the own clock, bias by the outside one', () => {
  const results = [
    { value: bursts([50, 51]), account: { cpuMs: 101.1, readyMs: 0 } },
    { value: bursts([49, 50]), account: { cpuMs: 99.1, readyMs: 100.2 } },
  ];
  const row = accuracyRow({ ...HYBRID, loop: 'open' }, results, 0.1);
  expect(row).toMatchObject({ n: 4, cpuMeanMs: 50, biasPct: 0, wallMeanMs: 100 });
  // Squares 0 + 1 + 1 + 0 over 3, root 0.8165, over 50.
  expect(row.cvPct).toBeCloseTo(1.633, 3);
  expect(row.outsideBiasPct).toBeCloseTo(0, 6);
  expect(row.readyShare).toBeCloseTo(100.2 / 300.4);
  expect(row.met).toBeUndefined();
});

test.each([
  ['own bias', bursts([50.02, 50.02]), 100, false],
  ['outside bias', bursts([50, 50]), 100.1, false],
  ['CV', bursts([49.9, 50.1]), 100, false],
  ['nothing', bursts([50, 50]), 100, true],
])("accuracyRow of the product's loop, %s over the bound", (_, value, cpuMs, met) => {
  expect(accuracyRow(HYBRID, [{ value, account: { cpuMs, readyMs: 0 } }], 0).met).toBe(met);
});

test('accuracyRow of 1 ms: the CV has no bound, the bias one of 0.5 %', () => {
  const row = (values: readonly number[]) =>
    accuracyRow({ ...HYBRID, nominalMs: 1 }, [{ value: bursts(values), account: null }], 0).met;
  expect(row([0.9, 1.1])).toBe(true);
  expect(row([1.006, 1.006])).toBe(false);
});

test('tableLines: bias with sign, bound of the product, the naive loop beside it', async () => {
  const burstMs = ({ loop, nominalMs }: Series): number =>
    loop === 'naive' ? nominalMs + 2 : nominalMs;
  const { table } = await measureFake({ burstMs }, { burstMs, withoutAccount: true });
  if (table instanceof Error) throw table;
  const lines = tableLines(table);
  expect(lines).toHaveLength(41);
  expect(lines[1]).toMatch(
    /^ +1 ms +nothing +tachograph +400 +\+0.000 % +\S+ % +0.000 % +1.00 ms +0.0 % +<= 0.5 %: met$/,
  );
  expect(lines[4]).toMatch(/naive CPU clock +400 +\+200.0 %/);
  expect(lines[40]).toMatch(/2 busy loops +naive CPU clock +5 .*unknown/);
});
