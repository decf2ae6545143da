import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#kernel/system/system-clock.ts';
import { explainNats, findNats } from '../broker/find-nats.ts';
import { readNatsRelease, releasePlatform } from '../broker/nats-release.ts';
import type { NatsServer } from '../broker/nats-server.ts';
import { startNatsServer } from '../broker/nats-server.ts';

/** Where the local cluster keeps it, too. */
const CACHE = fileURLToPath(new URL('../../.tachograph/cache', import.meta.url));

/** A nats-server to start, or why there is none. A test without one is skipped by name. */
export type TestNats =
  | { readonly binary: string; readonly missing?: undefined }
  | { readonly binary?: undefined; readonly missing: string };

/** Finds one, building it where it must. Throws instead of reporting `missing` when CI is "true". */
export async function natsForTests(): Promise<TestNats> {
  const release = await readNatsRelease();
  const search = await findNats({
    natsUrl: undefined,
    searchPath: process.env['PATH'] ?? '',
    cacheDir: CACHE,
    release,
    platform: releasePlatform(process.platform, process.arch),
    install: true,
  });
  if (search.binary !== undefined) return { binary: search.binary };
  const missing = explainNats(search);
  if (process.env['CI'] === 'true') throw new Error(`no nats-server for the tests: ${missing}`);
  return { missing };
}

/** Starts one on a folder of its own, which `remove` deletes. */
export async function startTestNats(
  nats: TestNats,
  options: { readonly storeDir?: string; readonly port?: number } = {},
): Promise<{ server: NatsServer; storeDir: string; remove: () => Promise<void> }> {
  if (nats.binary === undefined) throw new Error(nats.missing);
  const storeDir = options.storeDir ?? (await mkdtemp(join(tmpdir(), 'tachograph-nats-')));
  const server = await startNatsServer({
    binary: nats.binary,
    storeDir,
    clock: systemClock,
    goMaxProcs: 1,
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  const remove = async (): Promise<void> => {
    await server.stop();
    await rm(storeDir, { recursive: true, force: true });
  };
  return { server, storeDir, remove };
}
