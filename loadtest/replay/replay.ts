import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { compileSelection } from '#loadtest/vehicles/selection.ts';
import { cutDrive } from '#loadtest/vehicles/cut-drive.ts';
import { VehicleAgent } from '#loadtest/vehicles/vehicle-agent.ts';
import { ExportTracker, stillMissing } from './export-tracker.ts';
import { waitForExports } from './wait-for-exports.ts';
import { StartLine } from './start-line.ts';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Database } from '#kernel/dbc/model.ts';
import type { ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import type { CampaignDefinition } from '#kernel/facts/campaign.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { DriveSlice } from '#loadtest/vehicles/cut-drive.ts';
import type { Drive } from '#loadtest/vehicles/drive.ts';
import type { VehicleIdentity } from '#loadtest/vehicles/identities.ts';
import type { AgentResult } from '#loadtest/vehicles/vehicle-agent.ts';
import type { VehicleTransport } from '#loadtest/vehicles/vehicle-transport.ts';
import type { SessionProgress } from './export-tracker.ts';

export interface ReplayLimits {
  /** Gives up after so long without a batch cut, settled or exported (plus two upload periods). */
  readonly stallMs: number;
  /** Gives up so long after the drive's end, whatever happens. */
  readonly drainMs: number;
}

export const REPLAY_LIMITS: ReplayLimits = { stallMs: 60_000, drainMs: 900_000 };

export interface ReplayOptions {
  readonly vehicles: readonly VehicleIdentity[];
  readonly drive: Drive;
  /** SHA-256 of a DBC → the database, for the campaign's selection rules. */
  readonly databases: ReadonlyMap<string, Database>;
  readonly speed: number;
  readonly seed: number;
  /** The campaign that the vehicles will be told to enact: its upload period and window length. */
  readonly campaign: CampaignDefinition;
  readonly clock: Clock;
  /** Compression; by default in another thread. A test in virtual time must not wait for one. */
  readonly gzip?: (body: Uint8Array) => Promise<Uint8Array>;
  readonly transport: VehicleTransport;
  /** Subscribes to `dataset.exported.v1`; called once, before the first vehicle starts. */
  readonly subscribe: (onExport: (data: DatasetExported) => void) => Promise<void>;
  readonly onProgress: (progress: readonly SessionProgress[]) => void;
  readonly progressEveryMs: number;
  readonly limits?: ReplayLimits;
  /** Absent: nothing is traced. */
  readonly tracing?: ProcessTracing;
  readonly signal: AbortSignal;
}

export interface ReplayResult {
  readonly records: readonly BatchRecord[];
  readonly agents: readonly AgentResult[];
  /** Wall time of the records' origin. */
  readonly originWallMs: number;
  readonly durationMs: number;
  readonly announcements: number;
  /** Vehicles that failed and data that did not come out in time, in words. */
  readonly problems: readonly string[];
}

/**
 * Lets vehicles replay a drive against a running pipeline and waits until all that was acknowledged
 * came out again. Open loop: batch k of a vehicle is due at its phase + (k + 1) upload periods after
 * the common start, whatever the pipeline does. Rejects with the signal's reason when aborted.
 */
export async function replay(options: ReplayOptions): Promise<ReplayResult> {
  const { clock, campaign, signal } = options;
  const originMs = clock.monotonicMs();
  // The spans' clock, where there are spans: what one says of a moment, the other says too.
  const originWallMs = options.tracing?.nowMs() ?? clock.nowMs();
  const tracker = new ExportTracker(campaign.processing.windowMs);
  await options.subscribe((data) => tracker.noteExport(data, clock.monotonicMs() - originMs));
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const agents = startAgents(options, tracker, originMs, originWallMs, both);
  let areDone = false;
  const all = Promise.all(agents).finally(() => {
    areDone = true;
  });
  try {
    // A vehicle that rejects (a bug) ends the race at once.
    const waiting = waitForAll(options, tracker, () => areDone);
    const gaveUp = await Promise.race([waiting, all.then(() => waiting)]);
    if (gaveUp !== undefined) stop.abort(new Error(gaveUp));
    const results = await all;
    signal.throwIfAborted();
    return {
      records: tracker.records(),
      agents: results,
      originWallMs,
      durationMs: clock.monotonicMs() - originMs,
      announcements: tracker.announcements,
      problems: problemsOf(results, tracker, gaveUp),
    };
  } finally {
    stop.abort(new Error('the replay has ended'));
    await Promise.allSettled(agents);
  }
}

function startAgents(
  options: ReplayOptions,
  tracker: ExportTracker,
  originMs: number,
  originWallMs: number,
  signal: AbortSignal,
): readonly Promise<AgentResult>[] {
  const { vehicles, seed, speed, clock, transport, tracing } = options;
  const startLine = new StartLine(vehicles.length, () => clock.monotonicMs());
  const slicesOf = sharedSlices(options);
  return vehicles.map(async (identity) => {
    let hasArrived = false;
    const agent = new VehicleAgent({
      identity,
      seed,
      speed,
      clock,
      transport,
      gzip: options.gzip ?? promisify(gzip),
      slicesOf,
      recordingStart: async (definition) => {
        // Cut before the start, so that it costs nobody's first batch time.
        slicesOf(definition);
        hasArrived = true;
        const startMs = await startLine.arrive();
        return startMs + (identity.phase * definition.upload.everyMs) / speed;
      },
      originMs,
      originWallMs,
      onRecord: (record) => tracker.noteRecord(record),
      ...(tracing === undefined ? {} : { tracing }),
      signal,
    });
    try {
      return await agent.run();
    } finally {
      if (!hasArrived) startLine.withdraw();
    }
  });
}

/** All vehicles replay one drive, so it is cut once for each set of rules. */
function sharedSlices({
  drive,
  databases,
}: ReplayOptions): (definition: CampaignDefinition) => readonly DriveSlice[] {
  const cut = new Map<string, readonly DriveSlice[]>();
  return (definition) => {
    const { decoders, signals, rawFrames, upload } = definition;
    const key = JSON.stringify([decoders, signals, rawFrames, upload.everyMs]);
    const known = cut.get(key);
    if (known !== undefined) return known;
    const slices = cutDrive(
      drive.frames,
      compileSelection(definition, databases),
      upload.everyMs * 1000,
    );
    cut.set(key, slices);
    return slices;
  };
}

/** Resolves when all is out (undefined), or when a limit is reached (what was, in words). */
function waitForAll(
  options: ReplayOptions,
  tracker: ExportTracker,
  areAgentsDone: () => boolean,
): Promise<string | undefined> {
  const { clock, signal, drive, speed, campaign, onProgress, progressEveryMs } = options;
  const limits = options.limits ?? REPLAY_LIMITS;
  const driveMs = (drive.frames.at(-1)?.timeUs ?? 0) / 1000 / speed;
  return waitForExports({
    tracker,
    areSendersDone: areAgentsDone,
    stallMs: limits.stallMs + (2 * campaign.upload.everyMs) / speed,
    sendingMs: driveMs,
    drainMs: limits.drainMs,
    onProgress,
    progressEveryMs,
    clock,
    signal,
  });
}

function problemsOf(
  agents: readonly AgentResult[],
  tracker: ExportTracker,
  gaveUp: string | undefined,
): readonly string[] {
  const failed = agents.flatMap(({ vehicle, failure }) =>
    failure === null ? [] : [`vehicle ${vehicle} failed: ${failure}`],
  );
  if (gaveUp === undefined) return failed;
  return [...failed, `gave up: ${gaveUp}`, ...stillMissing(tracker.progress())];
}
