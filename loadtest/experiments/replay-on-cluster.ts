import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BoundedLogFile } from '#infra/local/bounded-log-file.ts';
import { startCluster } from '#infra/local/cluster.ts';
import { searchNats } from '#infra/local/local-nats.ts';
import { jsonLog } from '#kernel/system/log.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { exportTrigger, listenForExports } from '#loadtest/replay/export-sink.ts';
import { replay } from '#loadtest/replay/replay.ts';
import { EXPORT_FOLDER, RUN_FOLDER } from '#loadtest/results/result-folder.ts';
import { vehicleIdentity } from '#loadtest/vehicles/identities.ts';
import { UndiciTransport } from '#loadtest/vehicles/undici-transport.ts';
import { engineerClient } from './engineer-client.ts';
import { stageSummaries } from './stage-summaries.ts';
import type { NatsSearch } from '#eventing/broker/find-nats.ts';
import type { ClusterEvent, LocalCluster } from '#infra/local/cluster.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';
import type { ReplayResult } from '#loadtest/replay/replay.ts';
import type { DemoConfig, RunOutcome } from '#loadtest/results/run-records.ts';
import type { DemoMaterials } from './demo-materials.ts';
import type { DemoOptions } from './run-demo.ts';

export interface ClusterRun {
  readonly config: DemoConfig;
  readonly run: RunOutcome;
  readonly replayed: ReplayResult;
  readonly natsVersion: string | null;
  readonly storeUrl: string;
}

const MAX_LOG_BYTES = 4 * 1024 * 1024;
/** Uploads under way at once: each vehicle has at most one. */
const MAX_CONNECTIONS = 100;

/** Starts the pipeline, replays, stops the pipeline; also when it fails or is stopped. */
export async function replayOnCluster(
  options: DemoOptions,
  materials: DemoMaterials,
  folder: string,
): Promise<ClusterRun> {
  const { root, overlay, env, clock, signal } = options;
  const dataDir = join(folder, RUN_FOLDER);
  await mkdir(join(dataDir, 'logs'), { recursive: true });
  const logFile = new BoundedLogFile(join(dataDir, 'logs', 'cluster.log'), MAX_LOG_BYTES);
  const log = jsonLog(
    'cluster',
    () => clock.nowMs(),
    (line) => logFile.write(Buffer.from(line)),
  );
  const token = Buffer.from(options.randomBytes(32)).toString('base64url');
  const storeUrl = `sqlite:${join(dataDir, 'store.db')}`;
  try {
    const nats = await findNats(options);
    const cluster = await startCluster({
      root,
      overlay,
      dataDir,
      configMaps: {
        tachograph: {
          'store-url': storeUrl,
          'files-url': `folder:${join(folder, EXPORT_FOLDER)}`,
        },
      },
      secrets: { 'tachograph-engineer': { 'token-sha256': sha256Hex(token) } },
      env,
      nats,
      clock,
      log,
      onEvent: (event) => tellEvent(event, options),
      signal,
    });
    try {
      const outcome = await replayOn(cluster, options, materials, token);
      options.onNote('Stopping the pipeline');
      return { ...outcome, natsVersion: nats.version ?? null, storeUrl };
    } finally {
      await cluster.stop();
    }
  } finally {
    logFile.close();
  }
}

function findNats({ root, env, platform, onNote }: DemoOptions): Promise<NatsSearch> {
  const surroundings = { root, env, platform: platform.name, architecture: platform.architecture };
  return searchNats(surroundings, { install: true, onProgress: onNote });
}

function tellEvent(event: ClusterEvent, { onNote }: DemoOptions): void {
  if (event.kind === 'starting') onNote(`Starting ${event.what}`);
}

async function replayOn(
  cluster: LocalCluster,
  options: DemoOptions,
  materials: DemoMaterials,
  token: string,
): Promise<Pick<ClusterRun, 'config' | 'run' | 'replayed'>> {
  const { signal, speed, seed, clock } = options;
  const engineer = engineerClient(cluster.serviceUrl('campaign'), token, signal);
  for (const { name, bytes } of materials.campaign.decoders) {
    await engineer.addDecoder(name, bytes);
  }
  const campaign = await engineer.runCampaign(materials.campaign.text);
  options.onNote(`Campaign ${campaign.campaign} is running`);
  const vehicles = Array.from({ length: options.vehicles }, (_, index) =>
    vehicleIdentity(seed, index),
  );
  const tokens = new Map<string, string>();
  for (const { vehicle } of vehicles) tokens.set(vehicle, await engineer.issueToken(vehicle));
  const transport = new UndiciTransport({
    serviceUrl: cluster.serviceUrl('device-communication'),
    tokens,
    connections: Math.min(vehicles.length, MAX_CONNECTIONS),
  });
  const sinks: { close: () => Promise<void> }[] = [transport];
  try {
    const replayed = await replay({
      vehicles,
      drive: materials.drive,
      databases: materials.databases,
      speed,
      seed,
      campaign: campaign.definition,
      clock,
      transport,
      subscribe: async (onExport) => {
        const sink = await listenForExports(onExport);
        sinks.push(sink);
        await cluster.applyTrigger(exportTrigger(SINK_TRIGGER, cluster.brokerUrl, sink.uri));
      },
      onProgress: options.onProgress,
      progressEveryMs: options.progressEveryMs,
      signal,
    });
    await cluster.removeTrigger(SINK_TRIGGER);
    const stages = await stageSummaries(await cluster.status());
    return {
      config: configOf(options, materials, campaign),
      run: outcomeOf(replayed, stages),
      replayed,
    };
  } finally {
    for (const sink of sinks) await sink.close();
  }
}

const SINK_TRIGGER = 'replay-sink';

function configOf(
  { vehicles, speed, seed }: DemoOptions,
  { driveInfo }: DemoMaterials,
  { campaign, version, definitionSha256, definition }: CampaignFact,
): DemoConfig {
  return {
    schema: 'tachograph.config/1',
    kind: 'Demo',
    name: 'demo',
    vehicles,
    speed,
    seed,
    drive: driveInfo,
    campaign: { campaign, version, definitionSha256, definition },
  };
}

const outcomeOf = (replayed: ReplayResult, stages: RunOutcome['stages']): RunOutcome => ({
  schema: 'tachograph.run/1',
  startedAt: new Date(replayed.originWallMs).toISOString(),
  durationMs: replayed.durationMs,
  announcements: replayed.announcements,
  vehicles: replayed.agents,
  problems: replayed.problems,
  stages,
});
