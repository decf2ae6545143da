import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, expect, test } from 'vitest';
import { natsForTests } from '#eventing/testing/nats-for-tests.ts';
import { silentLog } from '#kernel/system/log.ts';
import { systemClock as clock } from '#kernel/system/system-clock.ts';
import { startLocalNats } from './local-nats.ts';
import { isAlive } from '#infra/local/replicas/is-alive.ts';
import { until } from './testing/processes.ts';

const found = await natsForTests();
const storeDir = mkdtempSync(join(tmpdir(), 'tachograph-local-nats-'));
afterAll(() => rmSync(storeDir, { recursive: true, force: true }));

test.skipIf(found.binary === undefined)(
  'startLocalNats starts a killed server again on its port, until it is stopped',
  async () => {
    const search = { attempts: [], ...(found.binary === undefined ? {} : found) };
    const nats = await startLocalNats({ search, storeDir, clock, log: silentLog });
    const { url, pid: first } = nats;
    process.kill(first ?? 0, 'SIGKILL');
    const second = await until(() => (nats.pid === first ? undefined : nats.pid));
    expect(nats.url).toBe(url);
    await nats.stop();
    expect(isAlive(second)).toBe(false);
  },
);

test('startLocalNats with a server that runs already uses it and never stops it', async () => {
  const search = { attempts: [], url: 'nats://127.0.0.1:1' };
  const nats = await startLocalNats({ search, storeDir, clock, log: silentLog });
  expect(nats).toMatchObject({ url: 'nats://127.0.0.1:1', pid: undefined });
  await nats.stop();
});

test('startLocalNats without any throws what was tried', async () => {
  const search = { attempts: [{ source: 'PATH', ok: false, detail: 'no nats-server' }] } as const;
  const starting = startLocalNats({ search, storeDir, clock, log: silentLog });
  await expect(starting).rejects.toThrow(/No nats-server of version .*PATH: no nats-server/);
});
