import { join } from 'node:path';
import { explainNats, findNats, type NatsSearch } from '#eventing/broker/find-nats.ts';
import { readNatsRelease, releasePlatform } from '#eventing/broker/nats-release.ts';
import { startNatsServer, type NatsServer } from '#eventing/broker/nats-server.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Log } from '#kernel/system/log.ts';
import { crashesInRow, restartDelayMs, RESTART_POLICY } from './replicas/restart-policy.ts';

/** What decides which nats-server is used. */
export interface NatsSurroundings {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly architecture: string;
}

/** Looks for nats-server in the fixed order; with `install` also downloads or builds it. */
export async function searchNats(
  surroundings: NatsSurroundings,
  options: { readonly install: boolean; readonly onProgress?: (line: string) => void },
): Promise<NatsSearch> {
  const { root, env, platform, architecture } = surroundings;
  return findNats({
    natsUrl: env['NATS_URL'],
    searchPath: env['PATH'] ?? '',
    cacheDir: join(root, '.tachograph', 'cache'),
    release: await readNatsRelease(),
    platform: releasePlatform(platform, architecture),
    ...options,
  });
}

/** A NATS server that this machine can use: one that runs already, or one that is kept running. */
export interface LocalNats {
  readonly url: string;
  /** undefined for a server that was there before. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

export interface LocalNatsOptions {
  readonly search: NatsSearch;
  readonly storeDir: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Throws NATS_NOT_FOUND with what was tried, or NATS_START_FAILED. */
export async function startLocalNats(options: LocalNatsOptions): Promise<LocalNats> {
  const { search } = options;
  if (search.url !== undefined) {
    return { url: search.url, pid: undefined, stop: async () => {} };
  }
  if (search.binary === undefined) {
    const { minimumVersion } = await readNatsRelease();
    const fields = { minimum: minimumVersion, detail: explainNats(search) };
    throw new TachographError('NATS_NOT_FOUND', fields);
  }
  return KeptNats.start(search.binary, options);
}

/** nats-server, started again on its old port when it ends unasked: its clients reconnect by themselves. */
class KeptNats implements LocalNats {
  readonly #binary: string;
  readonly #options: LocalNatsOptions;
  readonly #stopping = new AbortController();
  #server: NatsServer;
  readonly #loop: Promise<void>;

  private constructor(binary: string, options: LocalNatsOptions, server: NatsServer) {
    this.#binary = binary;
    this.#options = options;
    this.#server = server;
    this.#loop = this.#keep();
  }

  static async start(binary: string, options: LocalNatsOptions): Promise<KeptNats> {
    const { storeDir, clock } = options;
    return new KeptNats(binary, options, await startNatsServer({ binary, storeDir, clock }));
  }

  get url(): string {
    return this.#server.url;
  }

  get pid(): number {
    return this.#server.pid;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#server.stop();
    await this.#loop;
  }

  async #keep(): Promise<void> {
    const { clock, log, storeDir } = this.#options;
    const { port } = this.#server;
    let crashes = 0;
    for (;;) {
      const sinceMs = clock.monotonicMs();
      const { asked, code } = await this.#server.exited;
      if (asked || this.#stopping.signal.aborted) return;
      crashes = crashesInRow(crashes, clock.monotonicMs() - sinceMs, RESTART_POLICY);
      const delayMs = restartDelayMs(crashes, RESTART_POLICY);
      log.error('nats-server ended, starting it again', { code, delayMs });
      try {
        await clock.sleep(delayMs, this.#stopping.signal);
        this.#server = await startNatsServer({ binary: this.#binary, storeDir, clock, port });
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        // The old server has ended, so the loop comes straight back here, after a longer wait.
        log.error('nats-server did not start', { error: String(error) });
        continue;
      }
      // A stop that came while it was starting did not see the new one.
      if (this.#stopping.signal.aborted) await this.#server.stop();
    }
  }
}
