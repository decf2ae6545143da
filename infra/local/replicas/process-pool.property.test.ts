import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fakePool, NOBODY_WAITS } from './testing/fake-pool.ts';
import { settled } from './testing/fake-process.ts';

const SERVICES = ['a', 'b'] as const;
const SLOTS = 2;

const service = fc.constantFrom(...SERVICES);
/** `which` picks one of those that are there. */
const which = fc.nat(9);
const step = fc.oneof(
  fc.record({ do: fc.constant('scale' as const), service, replicas: fc.nat(5) }),
  fc.record({ do: fc.constant('listen' as const), service, which }),
  fc.record({ do: fc.constant('crash' as const), service, which }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 300, 2_500, 6_000) }),
);

test('whatever happens: as many replicas as asked for, names of their own, few starts at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { pool, workload, child, scale, listen, clock, rows, names } = fakePool({
        startSlots: SLOTS,
        maxSlotMs: 5_000,
      });
      const asked = new Map<string, number>();
      for (const name of SERVICES) pool.add(workload(name, { drawStartDelayMs: () => 100 }));
      const running = (name: string): string[] =>
        pool
          .status()
          .flatMap((one) => (one.name === name ? one.replicas : []))
          .flatMap((replica) => (replica.pid === undefined ? [] : [replica.name]));
      for (const one of steps) {
        if (one.do === 'wait') await clock.advance(one.ms);
        else if (one.do === 'scale') {
          asked.set(one.service, one.replicas);
          await scale(one.service, one.replicas, NOBODY_WAITS);
        } else {
          const alive = running(one.service);
          const target = alive[one.which % Math.max(1, alive.length)];
          if (target !== undefined && one.do === 'listen') await listen(target);
          if (target !== undefined && one.do === 'crash') child(target).end(1);
          await settled();
        }
        for (const name of SERVICES) {
          const staying = pool.observe(name).filter(({ draining }) => !draining);
          expect(staying).toHaveLength(asked.get(name) ?? 0);
          expect(new Set(names(name)).size).toBe(names(name).length);
        }
      }
      await pool.stopAll();
      await settled();
      // Nothing is left, nobody sleeps, and no name came twice.
      expect([...names('a'), ...names('b'), clock.sleeping]).toEqual([0]);
      const begun = rows.filter(({ phase }) => phase === 'pending').map(({ replica }) => replica);
      expect(new Set(begun).size).toBe(begun.length);
      const ended = rows.filter(({ phase }) => phase === 'gone');
      expect(ended).toHaveLength(begun.length);
    }),
    { numRuns: 60, seed: 5 },
  );
});

test('never more starts at once than slots, unless a start is slower than its time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(6), { minLength: 1, maxLength: 12 }), async (scales) => {
      const { pool, workload, scale, listen, clock } = fakePool({ startSlots: SLOTS });
      pool.add(workload('a'));
      const launching = (): string[] =>
        (pool.status()[0]?.replicas ?? [])
          .filter(({ phase }) => phase === 'launching')
          .map(({ name }) => name);
      for (const replicas of scales) {
        await scale('a', replicas);
        expect(launching().length).toBeLessThanOrEqual(SLOTS);
        await listen(...launching().slice(0, 1));
        expect(launching().length).toBeLessThanOrEqual(SLOTS);
        await clock.advance(10);
      }
      await pool.stopAll();
    }),
    { numRuns: 60, seed: 5 },
  );
});
