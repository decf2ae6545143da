import { expect, test } from 'vitest';
import { natsForTests } from '#eventing/testing/nats-for-tests.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { brokerBench } from './broker-bench.ts';

const nats = await natsForTests();

test.skipIf(nats.missing !== undefined)(
  `brokerBench gets every event through both hops (${nats.missing ?? 'nats-server found'})`,
  async () => {
    const rows = await brokerBench(systemClock, nats.binary ?? '', 200);
    expect(rows).toHaveLength(5);
    for (const { value } of rows) expect(value).toBeGreaterThan(0);
    expect(rows.filter(({ target }) => target !== undefined)).toHaveLength(1);
  },
);
