import { expect, test } from 'vitest';
import { natsForTests } from '#eventing/testing/nats-for-tests.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { dataPathBench } from './data-path-bench.ts';

const nats = await natsForTests();

test.skipIf(nats.missing !== undefined)(
  `dataPathBench gets every event and request through (${nats.missing ?? 'nats-server found'})`,
  async () => {
    const size = { events: 200, probes: 5, queued: 50 };
    const rows = await dataPathBench(systemClock, nats.binary ?? '', size);
    expect(rows).toHaveLength(14);
    const value = (part: string): number =>
      rows.find(({ name }) => name.includes(part))?.value ?? 0;
    expect(value('events from the stream')).toBeGreaterThan(0);
    expect(value('straight to the function')).toBeGreaterThan(0);
    expect(value('served by 3 replicas')).toBeGreaterThan(0);
    expect(rows.filter(({ target }) => target !== undefined)).toHaveLength(2);
  },
);
