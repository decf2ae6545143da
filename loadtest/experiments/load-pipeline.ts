import { MAX_OUTSTANDING, driveEmulated } from '#loadtest/emulated/drive-emulated.ts';
import { emulatedCampaign } from '#loadtest/emulated/emulated-campaign.ts';
import { emulatedVehicle } from '#loadtest/emulated/emulated-vehicle.ts';
import { exportTrigger, listenForExports } from '#loadtest/replay/export-sink.ts';
import { UndiciTransport } from '#loadtest/vehicles/undici-transport.ts';
import { engineerClient, type EngineerClient } from './engineer-client.ts';
import { stagesSince, stageSummaries } from './stage-summaries.ts';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';
import type { ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Arrivals } from '#loadtest/arrivals/arrival-times.ts';
import type { EmulatedVehicle } from '#loadtest/emulated/emulated-vehicle.ts';
import type { SessionProgress } from '#loadtest/replay/export-tracker.ts';
import type { ReplayLimits, ReplayResult } from '#loadtest/replay/replay.ts';
import type { LoadConfig, RunOutcome } from '#loadtest/results/run-records.ts';
import type { RunningPipeline } from './running-pipeline.ts';

export interface PipelineLoad {
  readonly pipeline: RunningPipeline;
  /** A name part that no other run of the pipeline has. */
  readonly runId: string;
  readonly vehicles: number;
  readonly arrivals: Arrivals;
  readonly durationMs: number;
  readonly seed: number;
  readonly limits?: ReplayLimits;
  readonly clock: Clock;
  /** Absent: nothing is traced. */
  readonly tracing?: ProcessTracing;
  readonly signal: AbortSignal;
  readonly onNote: (line: string) => void;
  readonly onProgress: (progress: readonly SessionProgress[]) => void;
  readonly progressEveryMs: number;
}

/** What is done around the sending. */
export interface LoadSteps {
  /** Everything is set up, nothing was sent. */
  readonly before: () => Promise<void>;
  /** While batches are sent, until the signal aborts; its failure is not the run's. */
  readonly beside: (signal: AbortSignal) => Promise<void>;
  /** Everything has come out, or was given up. */
  readonly after: () => Promise<void>;
  /** The campaign is ended at the end. On a pipeline that is thrown away that would only wake a stage. */
  readonly endCampaign: boolean;
}

export interface LoadOutcome {
  readonly result: ReplayResult;
  readonly campaign: LoadConfig['campaign'];
  readonly stages: RunOutcome['stages'];
}

/** `20261130t224301123z`. */
export const runIdOf = (startedMs: number): string =>
  new Date(startedMs).toISOString().replaceAll(/[-:.]/g, '').toLowerCase();

/**
 * Makes a campaign for vehicles of its own, sends emulated batches and waits until all came out. Its
 * Trigger is gone when this resolves or rejects.
 */
export async function loadPipeline(load: PipelineLoad, steps: LoadSteps): Promise<LoadOutcome> {
  const { pipeline, signal, runId } = load;
  const vehicles = Array.from({ length: load.vehicles }, (_, index) =>
    emulatedVehicle(index, runId),
  );
  const names = vehicles.map(({ vehicle }) => vehicle);
  const client = (until: AbortSignal): EngineerClient =>
    engineerClient(pipeline.serviceUrl('campaign'), pipeline.address.engineerToken, until);
  const engineer = client(signal);
  const campaign = await engineer.runCampaign(emulatedCampaign(`emulated-${runId}`, names));
  load.onNote(`Campaign ${campaign.campaign} is running`);
  try {
    const tokens = new Map<string, string>();
    for (const vehicle of names) tokens.set(vehicle, await engineer.issueToken(vehicle));
    await steps.before();
    const stagesBefore = await stageSummaries(await pipeline.status());
    const { campaign: id, version, definitionSha256, definition } = campaign;
    const made = { vehicles, tokens, campaign: { campaign: id, campaignVersion: version } };
    const result = await sendAll(load, made, steps);
    await steps.after();
    return {
      result,
      campaign: { campaign: id, version, definitionSha256, definition },
      stages: stagesSince(stagesBefore, await stageSummaries(await pipeline.status())),
    };
  } finally {
    if (steps.endCampaign) {
      // Also when the run was stopped, which the client's own signal would forbid.
      await attempt(`end the campaign ${campaign.campaign}`, load, () =>
        client(new AbortController().signal).endCampaign(campaign.campaign),
      );
    }
  }
}

interface MadeLoad {
  readonly vehicles: readonly EmulatedVehicle[];
  readonly tokens: ReadonlyMap<string, string>;
  readonly campaign: { readonly campaign: string; readonly campaignVersion: number };
}

async function sendAll(
  load: PipelineLoad,
  { vehicles, tokens, campaign }: MadeLoad,
  { beside }: LoadSteps,
): Promise<ReplayResult> {
  const { pipeline, runId } = load;
  const trigger = `load-${runId}`;
  const transport = new UndiciTransport({
    serviceUrl: pipeline.serviceUrl('device-communication'),
    tokens,
    connections: MAX_OUTSTANDING,
  });
  const closers: (() => Promise<void>)[] = [() => transport.close()];
  const ended = new AbortController();
  const accompanied = beside(ended.signal);
  try {
    return await driveEmulated({
      ...load,
      vehicles,
      campaign,
      transport,
      subscribe: async (onExport: (data: DatasetExported) => void) => {
        const sink = await listenForExports(onExport, load.tracing);
        closers.push(() => sink.close());
        await pipeline.addTrigger(exportTrigger(trigger, pipeline.address.brokerUrl, sink.uri));
        closers.unshift(() => pipeline.removeTrigger(trigger));
      },
    });
  } finally {
    ended.abort();
    // The trigger first, so that no delivery meets a sink that is closed.
    for (const close of closers) await attempt('clean up', load, close);
    await accompanied;
  }
}

/** What is done at the end, also of a run that failed: its own failure must not hide that one. */
async function attempt(
  what: string,
  { onNote }: PipelineLoad,
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    onNote(`Could not ${what}: ${String(error)}`);
  }
}
