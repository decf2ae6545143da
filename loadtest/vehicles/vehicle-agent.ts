import { encodeBatch } from '#kernel/batch/batch-codec.ts';
import { must } from '#kernel/core/assert.ts';
import { randomStream } from '#kernel/core/random.ts';
import { parseDueCampaigns } from './checkin.ts';
import { halveSlice } from './cut-drive.ts';
import { batchOf, emptyBatch, uploadRequest } from './upload-request.ts';
import { lostConnection, verdictOf } from './upload-verdict.ts';
import { NEW_VEHICLE, step } from './vehicle.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Random } from '#kernel/core/random.ts';
import type { ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import type { CampaignDefinition } from '#kernel/facts/campaign.ts';
import { BatchSpan } from '#loadtest/tracing/batch-span.ts';
import { type BatchRecord, unsentRecord } from './batch-record.ts';
import type { EnactableCampaign } from './checkin.ts';
import type { DriveSlice } from './cut-drive.ts';
import type { VehicleIdentity } from './identities.ts';
import type { Answer, Verdict } from './upload-verdict.ts';
import type { Action, CampaignReport, Input, VehicleState } from './vehicle.ts';
import type { VehicleTransport } from './vehicle-transport.ts';

export interface AgentOptions {
  readonly identity: VehicleIdentity;
  readonly seed: number;
  /** Recorded seconds a real second: 5 replays a minute in twelve seconds. Scales nothing else. */
  readonly speed: number;
  readonly clock: Clock;
  readonly transport: VehicleTransport;
  /** gzip, in another thread where time matters. */
  readonly gzip: (body: Uint8Array) => Promise<Uint8Array>;
  /** The drive cut for a campaign; shared by all vehicles, which replay the same one. */
  readonly slicesOf: (definition: CampaignDefinition) => readonly DriveSlice[];
  /** Called when the campaign is enacted; resolves to when recording starts, `clock`'s monotonic ms. */
  readonly recordingStart: (definition: CampaignDefinition) => Promise<number>;
  /** Origin of every time in a record, `clock`'s monotonic ms, and the wall time then. */
  readonly originMs: number;
  readonly originWallMs: number;
  /** Called with a batch's record whenever it changed. */
  readonly onRecord: (record: BatchRecord) => void;
  /** Absent: nothing is traced. Its clock is that of `originWallMs`. */
  readonly tracing?: ProcessTracing;
  readonly signal: AbortSignal;
}

export interface AgentResult {
  readonly vehicle: string;
  readonly session: string;
  /** null: everything it recorded was settled and it said so. */
  readonly failure: string | null;
}

interface CutBatch {
  readonly batch: Batch;
  readonly body: Promise<Uint8Array>;
  readonly span: BatchSpan | undefined;
}

/** One simulated vehicle: the shell around the state machine in vehicle.ts. Runs once. */
export class VehicleAgent {
  readonly #options: AgentOptions;
  readonly #backoff: Random;
  #state: VehicleState = NEW_VEHICLE;
  #due: readonly EnactableCampaign[] = [];
  #isRecording = true;
  readonly #cut = new Map<number, CutBatch>();
  readonly #records = new Map<number, BatchRecord>();
  readonly #finished = Promise.withResolvers<string | null>();

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#backoff = randomStream(options.seed, `${options.identity.vehicle}/backoff`);
  }

  /** Resolves when the vehicle is done, has failed or was stopped; rejects on a bug only. */
  async run(): Promise<AgentResult> {
    const { identity, signal } = this.#options;
    const stop = (): void => this.#dispatch({ kind: 'stopped' });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    this.#dispatch({ kind: 'started' });
    try {
      const failure = await this.#finished.promise;
      return { vehicle: identity.vehicle, session: identity.session, failure };
    } finally {
      signal.removeEventListener('abort', stop);
      for (const { span } of this.#cut.values()) span?.end('unresolved', false);
    }
  }

  #dispatch(input: Input): void {
    const { state, actions } = step(this.#state, input);
    this.#state = state;
    for (const action of actions) {
      this.#perform(action).catch((error: unknown) => {
        if (!this.#options.signal.aborted) this.#finished.reject(error);
      });
    }
  }

  /** Every branch runs synchronously up to its first wait, so actions take effect in their order. */
  async #perform(action: Action): Promise<void> {
    switch (action.kind) {
      case 'checkIn':
        return this.#checkIn(action.report);
      case 'record':
        return this.#record(action.campaign.campaign);
      case 'empty':
        return this.#replace(action.seq, (batch) => emptyBatch(batch));
      case 'stopRecording':
        this.#isRecording = false;
        return this.#replace(action.seq, (batch) => ({ ...batch, end: true }));
      case 'upload':
        return this.#upload(action.seq);
      case 'wait':
        await this.#options.clock.sleep(action.ms, this.#options.signal);
        return this.#dispatch({ kind: 'waited', for: action.for });
      case 'settle':
        return this.#settle(action);
      case 'finish':
        return this.#finished.resolve(action.failure);
    }
  }

  async #checkIn(report: CampaignReport | null): Promise<void> {
    const { identity, transport, signal } = this.#options;
    const answer = await this.#ask(() => transport.checkIn(identity.vehicle, report, signal));
    const verdict = this.#verdictOf(answer);
    if (verdict.kind === 'retry' || verdict.kind === 'refused') {
      return this.#dispatch({ kind: 'checkinFailed', verdict, jitter: this.#backoff.next() });
    }
    if (report === null) this.#due = parseDueCampaigns((answer as Answer).body);
    return this.#dispatch({ kind: 'checkedIn', due: this.#due.map(({ due }) => due) });
  }

  /** An answer, or why there is none. */
  async #ask(request: () => Promise<Answer>): Promise<Answer | Error> {
    try {
      return await request();
    } catch (error) {
      if (error instanceof Error) return error;
      throw error;
    }
  }

  #verdictOf(answer: Answer | Error): Verdict {
    return answer instanceof Error
      ? lostConnection(answer.message)
      : verdictOf(answer, this.#options.clock.nowMs());
  }

  async #record(campaign: string): Promise<void> {
    const { clock, signal, speed } = this.#options;
    const { definition } = must(
      this.#due.find(({ due }) => due.campaign === campaign),
      'the enacted campaign was due',
    );
    const startMs = await this.#options.recordingStart(definition);
    let seq = 0;
    for (const slice of this.#options.slicesOf(definition)) {
      const dueMs = startMs + slice.untilUs / 1000 / speed;
      await clock.sleep(dueMs - clock.monotonicMs(), signal);
      for (const part of await this.#fit(slice, seq, definition)) {
        if (!this.#isRecording) return;
        this.#announce(part.batch, part.body, dueMs);
        seq = part.batch.seq + 1;
      }
    }
  }

  /** The slice as one batch, or as several where its body is larger than the campaign allows. */
  async #fit(
    slice: DriveSlice,
    seq: number,
    definition: CampaignDefinition,
  ): Promise<readonly { readonly batch: Batch; readonly body: Uint8Array }[]> {
    const campaign = must(this.#state.campaign, 'a vehicle that records has a campaign');
    const batch = batchOf(this.#options.identity, campaign, slice, seq);
    const body = await this.#bodyOf(batch);
    const isDivisible = slice.matched > 1 && slice.untilUs - slice.fromUs > 1;
    if (body.length <= definition.upload.maxBatchBytes || !isDivisible) return [{ batch, body }];
    const [before, after] = halveSlice(slice);
    const first = await this.#fit(before, seq, definition);
    return [...first, ...(await this.#fit(after, seq + first.length, definition))];
  }

  #announce(batch: Batch, body: Uint8Array, dueMs: number): void {
    const { clock, originMs } = this.#options;
    const { vehicle, session, seq, fromUs, untilUs } = batch;
    const span = this.#beginSpan(batch, dueMs - originMs);
    this.#cut.set(seq, { batch, body: Promise.resolve(body), span });
    this.#note(
      unsentRecord({
        vehicle,
        session,
        seq,
        fromUs,
        untilUs,
        frames: batch.counts.recorded,
        bytes: body.length,
        intendedMs: dueMs - originMs,
        readyMs: clock.monotonicMs() - originMs,
        traceId: span?.traceId ?? null,
      }),
    );
    this.#dispatch({ kind: 'batchCut', seq, bytes: body.length, last: batch.end });
  }

  #beginSpan({ vehicle, session, seq }: Batch, intendedMs: number): BatchSpan | undefined {
    const { tracing, originWallMs } = this.#options;
    if (tracing === undefined) return undefined;
    const batch = { vehicle, session, seq, intendedMs: originWallMs + intendedMs };
    return new BatchSpan(tracing, batch);
  }

  #note(record: BatchRecord): void {
    this.#records.set(record.seq, record);
    this.#options.onRecord(record);
  }

  #change(seq: number, change: Partial<BatchRecord>): void {
    this.#note({ ...must(this.#records.get(seq), `batch ${seq} has a record`), ...change });
  }

  /** Another content under the same number: only ever before its first upload. */
  async #replace(seq: number, change: (batch: Batch) => Batch): Promise<void> {
    const old = must(this.#cut.get(seq), `batch ${seq} is in the cache`);
    const batch = change(old.batch);
    const body = this.#bodyOf(batch);
    this.#cut.set(seq, { ...old, batch, body });
    const { recorded } = batch.counts;
    const isEmptied = recorded < old.batch.counts.recorded;
    // A batch may be emptied first and then be made the session's last: it stays an emptied one.
    const emptied = isEmptied || must(this.#records.get(seq), `batch ${seq} has a record`).emptied;
    this.#change(seq, { frames: recorded, emptied });
    await body;
  }

  async #upload(seq: number): Promise<void> {
    const { clock, transport, signal, originMs, originWallMs } = this.#options;
    const { batch, body, span } = must(this.#cut.get(seq), `batch ${seq} is in the cache`);
    const record = must(this.#records.get(seq), `batch ${seq} has a record`);
    const bytes = await body;
    const intendedUs = (originWallMs + record.intendedMs) * 1000;
    const attempt = span?.upload();
    const request = uploadRequest(batch, bytes, intendedUs, attempt?.place);
    const sentMs = clock.monotonicMs() - originMs;
    const firstSentMs = record.firstSentMs ?? sentMs;
    this.#change(seq, { sentMs, firstSentMs, attempts: record.attempts + 1, bytes: bytes.length });
    const verdict = this.#verdictOf(await this.#ask(() => transport.upload(request, signal)));
    attempt?.end(verdict);
    this.#dispatch({ kind: 'uploadAnswered', verdict, jitter: this.#backoff.next() });
  }

  #settle({ seq, outcome, duplicate, detail }: Extract<Action, { kind: 'settle' }>): void {
    const { clock, originMs } = this.#options;
    const ackedMs = outcome === 'stored' ? clock.monotonicMs() - originMs : null;
    this.#change(seq, { outcome, duplicate, detail, ackedMs });
    this.#cut.get(seq)?.span?.end(outcome, duplicate);
    this.#cut.delete(seq);
  }

  #bodyOf(batch: Batch): Promise<Uint8Array> {
    return this.#options.gzip(encodeBatch(batch, 'cbor'));
  }
}
