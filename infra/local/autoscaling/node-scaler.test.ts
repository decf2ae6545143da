import { afterEach, expect, test } from 'vitest';
import type { NodeConfig } from '#infra/autoscaling/node/node-config.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { NodeScaler } from './node-scaler.ts';

const config: NodeConfig = {
  upperThreshold: 0.8,
  lowerThreshold: 0.2,
  periodMs: 5_000,
  minNodes: 1,
  maxNodes: 3,
  addNodeMs: 2_000,
  cpuMillisPerNode: 500,
  services: [
    { name: 'a', replicasPerNode: 1 },
    { name: 'b', replicasPerNode: 2 },
  ],
};

const running: NodeScaler[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((scaler) => scaler.stop()));
});

function start(utilisation: () => number) {
  const clock = new VirtualClock();
  const rows: DecisionRow[] = [];
  const scaled: string[] = [];
  const looks: boolean[] = [];
  let asked = 1;
  let available = 1;
  const scaler = new NodeScaler({
    config,
    clock,
    originMs: 0,
    pool: {
      observeNodes: (beginsAnew) => {
        looks.push(beginsAnew);
        return Array.from({ length: asked }, (_, index) => ({
          name: `node-${index + 1}`,
          available: index < available,
          utilisation: index < available ? utilisation() : null,
        }));
      },
      setNodes: (count) => {
        if (count > asked) void clock.sleep(config.addNodeMs).then(() => (available = count));
        else if (count < asked) available = count;
        asked = count;
      },
    },
    scale: (service, replicas, decidedMs) => scaled.push(`${decidedMs} ${service} ${replicas}`),
    onRow: (row) => rows.push(row),
  });
  running.push(scaler);
  scaler.start();
  return { clock, scaler, rows, scaled, looks };
}

test('above the threshold a node comes, and every Service gets its replicas when it is there', async () => {
  const { clock, scaled } = start(() => 0.9);
  await clock.advance(4_000);
  expect(scaled.slice(0, 2)).toEqual(['0 a 1', '0 b 2']);
  expect(scaled.filter((line) => line.endsWith('b 4'))[0]).toBe('2000 b 4');
});

test('looks between two decisions do not begin the measurement anew', async () => {
  const { clock, looks } = start(() => 0.9);
  await clock.advance(4_900);
  expect(looks[0]).toBe(true);
  expect(looks.length).toBeGreaterThan(3);
  expect(looks.slice(1)).not.toContain(true);
  await clock.advance(100);
  expect(looks.at(-1)).toBe(true);
});

test('the settings come first, then every look with all it was made from', async () => {
  const { clock, rows, scaler } = start(() => 0.5);
  await clock.advance(10_000);
  expect(rows.map(({ kind, atMs }) => [kind, atMs])).toEqual([
    ['nodePolicy', 0],
    ['nodeDecision', 0],
    ['nodeDecision', 5_000],
    ['nodeDecision', 10_000],
  ]);
  expect(scaler.last?.reason).toContain('between the thresholds');
});

test('below the threshold a node goes, down to the least', async () => {
  let busy = 0.9;
  const { clock, scaled } = start(() => busy);
  await clock.advance(9_000);
  busy = 0.1;
  await clock.advance(20_000);
  expect(scaled.at(-1)).toBe('25000 b 2');
});
