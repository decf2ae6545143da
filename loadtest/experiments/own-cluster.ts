import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { STAGE_NAMES } from '#eventing/contracts/catalog.ts';
import { ensureBundles } from '#infra/bundle/ensure-bundles.ts';
import { BoundedLogFile } from '#infra/local/bounded-log-file.ts';
import { startCluster, type LocalCluster } from '#infra/local/cluster.ts';
import { searchNats } from '#infra/local/local-nats.ts';
import { jsonLog } from '#kernel/system/log.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { EXPORT_FOLDER, RUN_FOLDER } from '#loadtest/results/result-folder.ts';
import { awaitRest, restingReplicas } from './await-rest.ts';
import type { NatsSearch } from '#eventing/broker/find-nats.ts';
import type { ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import { startGeneratorTracing } from '#loadtest/tracing/generator-tracing.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { ScaledBy } from '#loadtest/results/policy-rows.ts';

/** What a run needs to make a cluster of its own. */
export interface OwnClusterOptions {
  /** The repository. */
  readonly root: string;
  /** The kustomization to run: a folder in `root`, or in `files`. */
  readonly overlay: string;
  /** Manifests that are on no disk, by their path in the repository. */
  readonly files?: Readonly<Record<string, string>>;
  /** Further keys of the ConfigMap `tachograph`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: { readonly name: string; readonly architecture: string };
  readonly clock: Clock;
  /** Random bytes for the engineer's token. */
  readonly randomBytes: (length: number) => Uint8Array;
  readonly signal: AbortSignal;
  readonly onNote: (line: string) => void;
}

export interface OwnCluster {
  readonly cluster: LocalCluster;
  readonly storeUrl: string;
  readonly engineerToken: string;
  readonly natsVersion: string | null;
  /** Of this process as a load generator; undefined: nothing is traced. */
  readonly tracing: ProcessTracing | undefined;
}

/** How long the generator's last spans may take. */
const FLUSH_MS = 5_000;
const MAX_LOG_BYTES = 4 * 1024 * 1024;

/**
 * Starts the pipeline with store, streams, logs, exported files and records of scaling in a result folder,
 * and stops it when `use` has resolved or rejected; also when the start fails.
 */
export async function withOwnCluster<T>(
  options: OwnClusterOptions,
  folder: string,
  use: (own: OwnCluster) => Promise<T>,
): Promise<T> {
  const { root, overlay, files = {}, settings = {}, env, clock, signal, onNote } = options;
  const dataDir = join(folder, RUN_FOLDER);
  await mkdir(join(dataDir, 'logs'), { recursive: true });
  const logFile = new BoundedLogFile(join(dataDir, 'logs', 'cluster.log'), MAX_LOG_BYTES);
  const engineerToken = Buffer.from(options.randomBytes(32)).toString('base64url');
  const tokenSha256 = sha256Hex(engineerToken);
  const storeUrl = `sqlite:${join(dataDir, 'store.db')}`;
  const filesUrl = `folder:${join(folder, EXPORT_FOLDER)}`;
  try {
    const nats = await findNats(options);
    const programs = await stagePrograms(options);
    const log = jsonLog(
      'cluster',
      () => clock.nowMs(),
      (line) => logFile.write(Buffer.from(line)),
    );
    const cluster = await startCluster({
      root,
      overlay,
      files,
      programs,
      dataDir,
      recordDir: folder,
      spansDir: folder,
      // A tick of the wall clock would fall into one run and not into the next.
      pings: false,
      configMaps: { tachograph: { ...settings, 'store-url': storeUrl, 'files-url': filesUrl } },
      secrets: { 'tachograph-engineer': { 'token-sha256': tokenSha256 } },
      controlTokenSha256: tokenSha256,
      env,
      nats,
      clock,
      log,
      onEvent: (event) => {
        if (event.kind === 'starting') onNote(`Starting ${event.what}`);
      },
      signal,
    });
    try {
      const { spansUrl } = cluster;
      const tracing = await startGeneratorTracing({ spansUrl, env, clock, log });
      const natsVersion = nats.version ?? null;
      try {
        const result = await use({ cluster, storeUrl, engineerToken, natsVersion, tracing });
        onNote('Stopping the pipeline');
        return result;
      } finally {
        // Before the collector, which ends with the cluster.
        await tracing?.stop(FLUSH_MS);
      }
    } finally {
      await cluster.stop();
    }
  } finally {
    logFile.close();
  }
}

/** Waits until every Service has no more replicas than its policy keeps without load, or says that it has. */
export async function awaitClusterRest(
  { cluster }: OwnCluster,
  scaledBy: readonly ScaledBy[],
  withinMs: number,
  what: string,
  { clock, signal, onNote }: Pick<OwnClusterOptions, 'clock' | 'signal' | 'onNote'>,
): Promise<void> {
  onNote(what);
  const isAtRest = await awaitRest({
    replicasNow: async () => (await cluster.status()).scaling,
    resting: restingReplicas(scaledBy),
    withinMs,
    clock,
    signal,
  });
  if (!isAtRest) onNote(`Not at rest after ${withinMs / 1_000} s; going on`);
}

/** Stages start from their bundles, as their images do. */
function stagePrograms({ root, clock, onNote }: OwnClusterOptions) {
  const entries = STAGE_NAMES.map((stage) => `functions/${stage}/main.ts`);
  const { execPath: node, version: nodeVersion } = process;
  return ensureBundles(root, entries, { clock, node, nodeVersion, onNote });
}

function findNats({ root, env, platform, onNote }: OwnClusterOptions): Promise<NatsSearch> {
  const surroundings = { root, env, platform: platform.name, architecture: platform.architecture };
  return searchNats(surroundings, { install: true, onProgress: onNote });
}
