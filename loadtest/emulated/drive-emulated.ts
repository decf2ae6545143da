import { gzipSync } from 'node:zlib';
import { encodeBatch } from '#kernel/batch/batch-codec.ts';
import { must } from '#kernel/core/assert.ts';
import { randomStream } from '#kernel/core/random.ts';
import { arrivalTimes } from '#loadtest/arrivals/arrival-times.ts';
import { ExportTracker, stillMissing } from '#loadtest/replay/export-tracker.ts';
import { REPLAY_LIMITS } from '#loadtest/replay/replay.ts';
import { waitForExports } from '#loadtest/replay/wait-for-exports.ts';
import { uploadRequest } from '#loadtest/vehicles/upload-request.ts';
import {
  BACKOFF,
  backoffMs,
  lostConnection,
  verdictOf,
} from '#loadtest/vehicles/upload-verdict.ts';
import { emulatedBatch } from './emulated-vehicle.ts';
import { generatorProblems } from './generator-problems.ts';
import { openLoop } from './open-loop.ts';
import { planBatches } from './plan-batches.ts';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import { BatchSpan } from '#loadtest/tracing/batch-span.ts';
import type { ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import type { TraceFields } from '#kernel/telemetry/propagation.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Random } from '#kernel/core/random.ts';
import type { Arrivals } from '#loadtest/arrivals/arrival-times.ts';
import type { SessionProgress } from '#loadtest/replay/export-tracker.ts';
import type { ReplayLimits, ReplayResult } from '#loadtest/replay/replay.ts';
import { type BatchRecord, unsentRecord } from '#loadtest/vehicles/batch-record.ts';
import type { UploadRequest } from '#loadtest/vehicles/upload-request.ts';
import type { Verdict } from '#loadtest/vehicles/upload-verdict.ts';
import type { VehicleTransport } from '#loadtest/vehicles/vehicle-transport.ts';
import type { EmulatedVehicle } from './emulated-vehicle.ts';
import type { PlannedBatch } from './plan-batches.ts';

/** Uploads without a verdict at once; each may hold a connection. */
export const MAX_OUTSTANDING = 500;

export interface EmulatedLoad {
  readonly vehicles: readonly EmulatedVehicle[];
  readonly campaign: Pick<Batch, 'campaign' | 'campaignVersion'>;
  readonly arrivals: Arrivals;
  readonly durationMs: number;
  readonly seed: number;
  readonly clock: Clock;
  readonly transport: Pick<VehicleTransport, 'upload'>;
  /** Subscribes to `dataset.exported.v1`; called once, before the first batch is due. */
  readonly subscribe: (onExport: (data: DatasetExported) => void) => Promise<void>;
  readonly onProgress: (progress: readonly SessionProgress[]) => void;
  readonly progressEveryMs: number;
  readonly limits?: ReplayLimits;
  /** Absent: nothing is traced. */
  readonly tracing?: ProcessTracing;
  readonly signal: AbortSignal;
}

/**
 * Sends emulated batches in an open loop and waits until all that was acknowledged came out again, or
 * names what did not. Rejects with the signal's reason when aborted.
 */
export async function driveEmulated(load: EmulatedLoad): Promise<ReplayResult> {
  const { clock, durationMs, signal, limits = REPLAY_LIMITS } = load;
  const random = randomStream(load.seed, 'arrivals');
  const plan = planBatches(arrivalTimes(load.arrivals, durationMs, random), load.vehicles.length);
  const originMs = clock.monotonicMs();
  // The spans' clock, where there are spans: what one says of a moment, the other says too.
  const originWallMs = load.tracing?.nowMs() ?? clock.nowMs();
  // By window number and not by time: the window length is of no account.
  const tracker = new ExportTracker(1_000);
  await load.subscribe((data) => tracker.noteExport(data, clock.monotonicMs() - originMs));
  const stop = new AbortController();
  const sender = new Sender(load, tracker, { originMs, originWallMs }, stop.signal);
  const startMs = clock.monotonicMs();
  let areSendersDone = false;
  const sending = openLoop({
    plan,
    send: (planned) => sender.send(planned, startMs - originMs),
    maxOutstanding: MAX_OUTSTANDING,
    startMs,
    clock,
    signal: AbortSignal.any([signal, stop.signal]),
  }).finally(() => {
    areSendersDone = true;
  });
  try {
    const waiting = waitForExports({
      ...load,
      ...limits,
      tracker,
      areSendersDone: () => areSendersDone,
      // A pause between two arrivals is no stall.
      stallMs: limits.stallMs + longestPauseMs(plan),
      sendingMs: durationMs,
    });
    // A bug in the sender ends the race at once.
    const gaveUp = await Promise.race([waiting, sending.then(() => waiting)]);
    if (gaveUp !== undefined) stop.abort(new Error(gaveUp));
    const { sent, held } = await sending;
    signal.throwIfAborted();
    const records = tracker.records();
    const notSent = plan.length - sent;
    return {
      records,
      agents: usedVehicles(load, plan),
      originWallMs,
      durationMs: clock.monotonicMs() - originMs,
      announcements: tracker.announcements,
      problems: [
        ...generatorProblems(records, held, MAX_OUTSTANDING),
        ...(notSent > 0 ? [`${notSent} of ${plan.length} planned batches were not sent`] : []),
        ...(gaveUp === undefined
          ? []
          : [`gave up: ${gaveUp}`, ...stillMissing(tracker.progress())]),
      ],
    };
  } finally {
    stop.abort(new Error('the run has ended'));
    await Promise.allSettled([sending]);
  }
}

const usedVehicles = ({ vehicles }: EmulatedLoad, plan: readonly PlannedBatch[]) =>
  vehicles.slice(0, plan.length).map((vehicle) => ({ ...vehicle, failure: null }));

function longestPauseMs(plan: readonly PlannedBatch[]): number {
  let beforeMs = 0;
  let longestMs = 0;
  for (const { intendedMs } of plan) {
    longestMs = Math.max(longestMs, intendedMs - beforeMs);
    beforeMs = intendedMs;
  }
  return longestMs;
}

interface Origin {
  readonly originMs: number;
  readonly originWallMs: number;
}

/** Uploads batches as vehicles do, repeats included, and keeps their records. */
class Sender {
  readonly #load: EmulatedLoad;
  readonly #tracker: ExportTracker;
  readonly #origin: Origin;
  readonly #signal: AbortSignal;
  readonly #backoff: Random;

  constructor(load: EmulatedLoad, tracker: ExportTracker, origin: Origin, stop: AbortSignal) {
    this.#load = load;
    this.#tracker = tracker;
    this.#origin = origin;
    this.#signal = AbortSignal.any([load.signal, stop]);
    this.#backoff = randomStream(load.seed, 'backoff');
  }

  #nowMs(): number {
    return this.#load.clock.monotonicMs() - this.#origin.originMs;
  }

  /** Resolves with the batch's verdict noted, or when stopped. `startMs` is since the run's origin. */
  async send(planned: PlannedBatch, startMs: number): Promise<void> {
    const { vehicles, campaign, tracing } = this.#load;
    const intendedMs = startMs + planned.intendedMs;
    const vehicle = must(vehicles[planned.vehicle], 'the vehicle of a planned batch');
    const intendedUs = (this.#origin.originWallMs + intendedMs) * 1_000;
    const batch = emulatedBatch(vehicle, campaign, planned, intendedUs);
    const body = gzipSync(encodeBatch(batch, 'cbor'), { level: 1 });
    const { vehicle: name, session } = vehicle;
    const traced = { vehicle: name, session, seq: planned.seq, intendedMs: intendedUs / 1_000 };
    const span = tracing === undefined ? undefined : new BatchSpan(tracing, traced);
    const request = (place?: TraceFields) => uploadRequest(batch, body, intendedUs, place);
    let record = unsentRecord({
      vehicle: name,
      session,
      seq: planned.seq,
      fromUs: batch.fromUs,
      untilUs: batch.untilUs,
      emulated: true,
      frames: 0,
      bytes: body.length,
      intendedMs,
      readyMs: this.#nowMs(),
      traceId: span?.traceId ?? null,
    });
    while (!this.#signal.aborted && record.attempts < BACKOFF.maxAttempts) {
      const sentMs = this.#nowMs();
      const firstSentMs = record.firstSentMs ?? sentMs;
      record = { ...record, sentMs, firstSentMs, attempts: record.attempts + 1 };
      this.#tracker.noteRecord(record);
      const attempt = span?.upload();
      const verdict = await this.#upload(request(attempt?.place));
      attempt?.end(verdict);
      record = { ...record, ...this.#settled(verdict) };
      this.#tracker.noteRecord(record);
      if (verdict.kind !== 'retry') break;
      await this.#pause(backoffMs(record.attempts, verdict.retryAfterMs, this.#backoff.next()));
    }
    span?.end(record.outcome, record.duplicate);
  }

  async #upload(request: UploadRequest): Promise<Verdict> {
    try {
      const answer = await this.#load.transport.upload(request, this.#signal);
      return verdictOf(answer, this.#load.clock.nowMs());
    } catch (error) {
      if (error instanceof Error) return lostConnection(error.message);
      throw error;
    }
  }

  #settled(verdict: Verdict): Partial<BatchRecord> {
    if (verdict.kind === 'retry') return { detail: verdict.detail };
    if (verdict.kind === 'refused') return { outcome: 'refused', detail: verdict.detail };
    const duplicate = verdict.kind === 'duplicate';
    return { outcome: 'stored', duplicate, ackedMs: this.#nowMs() };
  }

  async #pause(ms: number): Promise<void> {
    try {
      await this.#load.clock.sleep(ms, this.#signal);
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    }
  }
}
