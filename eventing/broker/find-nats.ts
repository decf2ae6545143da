import { execFile } from 'node:child_process';
import { access, constants, mkdir } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { downloadNats, installNatsByGo } from './install-nats.ts';
import type { NatsRelease } from './nats-release.ts';
import { isAtLeast, versionOf } from './nats-release.ts';

const run = promisify(execFile);

const PROBE_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 2_000;

/** The ways to a nats-server, in the order in which they are tried. */
export type NatsSource = 'NATS_URL' | 'PATH' | 'cache' | 'download' | 'go install';

export interface NatsAttempt {
  readonly source: NatsSource;
  readonly ok: boolean;
  /** One line: what was found, or why not. */
  readonly detail: string;
}

/** The first way that works, and what was tried before it: what `tachograph doctor` shows. */
export interface NatsSearch {
  readonly attempts: readonly NatsAttempt[];
  /** A server that runs already, or a binary to start; neither when nothing was found. */
  readonly url?: string;
  readonly binary?: string;
  readonly version?: string;
}

export interface NatsSearchOptions {
  readonly natsUrl: string | undefined;
  /** The PATH variable. */
  readonly searchPath: string;
  /** Where installed binaries are kept between runs. */
  readonly cacheDir: string;
  readonly release: NatsRelease;
  /** `linux-amd64` … (releasePlatform). */
  readonly platform: string;
  /** false: look only (doctor); true: download or build when nothing is there. */
  readonly install: boolean;
  /** Called before a step that takes long. */
  readonly onProgress?: (line: string) => void;
}

type Found = Pick<NatsSearch, 'url' | 'binary' | 'version'> & { readonly detail: string };

/** Never throws for something that is missing: the attempts say it, one line each. */
export async function findNats(options: NatsSearchOptions): Promise<NatsSearch> {
  const attempts: NatsAttempt[] = [];
  const ways: readonly (readonly [NatsSource, () => Promise<Found>])[] = [
    ['NATS_URL', () => byUrl(options.natsUrl)],
    ['PATH', () => onPath(options)],
    ['cache', () => inCache(options)],
    ['download', () => byDownload(options)],
    ['go install', () => byGo(options)],
  ];
  for (const [source, way] of ways) {
    try {
      const { detail, ...found } = await way();
      attempts.push({ source, ok: true, detail });
      return { attempts, ...found };
    } catch (error) {
      attempts.push({ source, ok: false, detail: oneLine(error) });
    }
  }
  return { attempts };
}

/** The failures in one sentence, for an error message. */
export const explainNats = (search: NatsSearch): string =>
  search.attempts.map(({ source, detail }) => `${source}: ${detail}`).join('; ');

const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] as string;

async function byUrl(natsUrl: string | undefined): Promise<Found> {
  if (natsUrl === undefined || natsUrl === '') throw new Error('not set');
  const { hostname, port } = new URL(natsUrl);
  await new Promise<void>((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: port === '' ? 4222 : Number(port) });
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no answer')));
    socket.once('error', (error) =>
      reject(new Error(`cannot connect to ${hostname}: ${error.message}`, { cause: error })),
    );
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
  return { url: natsUrl, detail: natsUrl };
}

async function onPath(options: NatsSearchOptions): Promise<Found> {
  const failures: string[] = [];
  for (const folder of options.searchPath.split(delimiter)) {
    if (folder === '') continue;
    const binary = join(folder, 'nats-server');
    try {
      await access(binary, constants.X_OK);
    } catch {
      // Not there: nearly every folder of a PATH has none.
      continue;
    }
    try {
      return await probe(binary, options.release);
    } catch (error) {
      failures.push(oneLine(error));
    }
  }
  throw new Error(failures.length > 0 ? failures.join(', ') : 'no nats-server');
}

/** The version of a binary that runs; throws when it is too old or does not. */
async function probe(binary: string, release: NatsRelease): Promise<Found> {
  const { stdout } = await run(binary, ['--version'], { timeout: PROBE_TIMEOUT_MS });
  const version = versionOf(stdout);
  if (version === undefined) throw new Error(`${binary} --version gave no version`);
  if (!isAtLeast(version, release.minimumVersion)) {
    throw new Error(`${binary} is ${version}, older than ${release.minimumVersion}`);
  }
  return { binary, version, detail: `${binary} ${version}` };
}

const cachedBinaries = ({ cacheDir, release }: NatsSearchOptions): readonly string[] => [
  join(cacheDir, `nats-server-${release.module.version.slice(1)}`),
  join(cacheDir, `nats-server-${release.download.version}`),
];

async function inCache(options: NatsSearchOptions): Promise<Found> {
  for (const binary of cachedBinaries(options)) {
    try {
      await access(binary, constants.X_OK);
    } catch {
      // Not there: the next one may be.
      continue;
    }
    return await probe(binary, options.release);
  }
  throw new Error(`nothing in ${options.cacheDir}`);
}

async function byDownload(options: NatsSearchOptions): Promise<Found> {
  const { release, platform } = options;
  const sha256 = release.download.sha256[platform];
  if (sha256 === undefined) throw new Error(`no checksum is pinned for ${platform}`);
  if (!options.install) throw new Error(`possible: nats-server ${release.download.version}`);
  options.onProgress?.(`downloading nats-server ${release.download.version} for ${platform}`);
  const url = release.download.url
    .replaceAll('{version}', release.download.version)
    .replaceAll('{platform}', platform);
  await mkdir(options.cacheDir, { recursive: true });
  const binary = cachedBinaries(options)[1] as string;
  await downloadNats({ url, sha256, binary });
  return await probe(binary, release);
}

async function byGo(options: NatsSearchOptions): Promise<Found> {
  const { path, version } = options.release.module;
  let go: string;
  try {
    go = (await run('go', ['version'], { timeout: PROBE_TIMEOUT_MS })).stdout.trim();
  } catch (error) {
    throw new Error('no go on the PATH', { cause: error });
  }
  if (!options.install) throw new Error(`possible: ${go} can build ${version}`);
  options.onProgress?.(`building nats-server ${version} with ${go} (about a minute, once)`);
  await mkdir(options.cacheDir, { recursive: true });
  const binary = cachedBinaries(options)[0] as string;
  await installNatsByGo({ module: `${path}@${version}`, binary });
  return await probe(binary, options.release);
}
