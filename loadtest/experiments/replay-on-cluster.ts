import { policiesText, readScaledBy, type ScaledBy } from '#loadtest/results/policy-rows.ts';
import { exportTrigger, listenForExports } from '#loadtest/replay/export-sink.ts';
import { replay } from '#loadtest/replay/replay.ts';
import { vehicleIdentity } from '#loadtest/vehicles/identities.ts';
import { UndiciTransport } from '#loadtest/vehicles/undici-transport.ts';
import { engineerClient } from './engineer-client.ts';
import { nextSampleMs } from './next-sample.ts';
import { awaitClusterRest, withOwnCluster, type OwnCluster } from './own-cluster.ts';
import { stageSummaries } from './stage-summaries.ts';
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

/** How long the way back to zero is waited for; a stage's window and grace time are some seconds. */
const SETTLE_WITHIN_MS = 60_000;
/** Uploads under way at once: each vehicle has at most one. */
const MAX_CONNECTIONS = 100;

/** Starts the pipeline, replays, stops the pipeline; also when it fails or is stopped. */
export function replayOnCluster(
  options: DemoOptions,
  materials: DemoMaterials,
  folder: string,
): Promise<ClusterRun> {
  return withOwnCluster(options, folder, async (own) => {
    const scaledBy = await readScaledBy(folder);
    const outcome = await replayOn(own, options, materials, { folder, scaledBy });
    return { ...outcome, natsVersion: own.natsVersion, storeUrl: own.storeUrl };
  });
}

async function replayOn(
  own: OwnCluster,
  options: DemoOptions,
  materials: DemoMaterials,
  { folder, scaledBy }: { readonly folder: string; readonly scaledBy: readonly ScaledBy[] },
): Promise<Pick<ClusterRun, 'config' | 'run' | 'replayed'>> {
  const { signal, speed, seed, clock } = options;
  const { cluster, engineerToken: token } = own;
  // Nothing has been asked of the pipeline yet.
  const fromMs = await nextSampleMs(folder, clock, signal);
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
      ...(own.tracing && { tracing: own.tracing }),
      subscribe: async (onExport) => {
        const sink = await listenForExports(onExport, own.tracing);
        sinks.push(sink);
        await cluster.applyTrigger(exportTrigger(SINK_TRIGGER, cluster.brokerUrl, sink.uri));
      },
      onProgress: options.onProgress,
      progressEveryMs: options.progressEveryMs,
      signal,
    });
    await cluster.removeTrigger(SINK_TRIGGER);
    const what = 'All is out; waiting until the stages are at rest again';
    await awaitClusterRest(own, scaledBy, SETTLE_WITHIN_MS, what, options);
    const measured = { fromMs, untilMs: await nextSampleMs(folder, clock, signal) };
    const status = await cluster.status();
    const { enforcement, recordProblems } = status;
    const stages = await stageSummaries(status);
    const run = outcomeOf(replayed, stages);
    const problems = [...run.problems, ...recordProblems];
    return {
      config: configOf(options, materials, campaign, scaledBy),
      run: { ...run, problems, measured, enforcement },
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
  scaledBy: readonly ScaledBy[],
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
    policy: policiesText(scaledBy),
    scaledBy,
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
