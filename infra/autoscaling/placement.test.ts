import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeReplica, type PlacementNode } from './placement.ts';

const node = (name: string, requestedMillis: number, allocatableMillis = 500): PlacementNode => ({
  name,
  allocatableMillis,
  requestedMillis,
});

test.each([
  { name: 'the least allocated one', nodes: [node('a', 200), node('b', 100)], on: 'b' },
  { name: 'of equals the first', nodes: [node('a', 100), node('b', 100)], on: 'a' },
  { name: 'only the second has room', nodes: [node('a', 400), node('b', 300)], on: 'b' },
  { name: 'exactly room enough', nodes: [node('a', 350)], on: 'a' },
  { name: 'a thousandth too little', nodes: [node('a', 351)], on: undefined },
  { name: 'no node', nodes: [], on: undefined },
  // 250 of 500 is a half, 500 of 2000 a quarter.
  { name: 'by share, not by figure', nodes: [node('a', 100), node('b', 350, 2_000)], on: 'b' },
])('150 m: $name', ({ nodes, on }) => {
  expect(placeReplica(nodes, 150)).toBe(on);
});

test('replicas that request nothing spread as if each had 100 m, and need no room', () => {
  const full = [node('a', 500), { ...node('b', 500), withoutRequest: 1 }];
  expect(placeReplica(full, 0)).toBe('a');
  // 100 of 500 is a fifth, 250 of 2000 an eighth.
  expect(placeReplica([node('a', 0), node('b', 150, 2_000)], 0)).toBe('b');
  expect(placeReplica([{ ...node('a', 0), withoutRequest: 2 }, node('b', 150)], 0)).toBe('b');
});

test('replicas that are placed one by one never overbook, and spread evenly over equal nodes', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 300 }),
      (count, request) => {
        const used = new Map(Array.from({ length: count }, (_, index) => [`node-${index}`, 0]));
        const nodes = (): PlacementNode[] =>
          [...used].map(([name, requested]) => node(name, requested, 1_000));
        let placed = 0;
        for (let on = placeReplica(nodes(), request); on !== undefined;) {
          used.set(on, (used.get(on) ?? 0) + request);
          placed += 1;
          const loads = [...used.values()];
          expect(Math.max(...loads)).toBeLessThanOrEqual(1_000);
          expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(request);
          on = placeReplica(nodes(), request);
        }
        expect(placed).toBe(count * Math.floor(1_000 / request));
      },
    ),
  );
});
