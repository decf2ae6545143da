import { phaseAttributes } from '#kernel/telemetry/phase-attributes.ts';
import { parseMarks, PHASES } from '#kernel/core/phases.ts';
import { ATTRIBUTE } from '#kernel/telemetry/names.ts';
import { type BatchRecord, unsentRecord } from '#loadtest/vehicles/batch-record.ts';
import type { SpanAttribute, SpanLink, SpanRecord } from '../span-record.ts';

/** Epoch ms of the run's origin. */
export const ORIGIN_MS = 1_767_600_000_000;

const PIPELINE = ['data-provider', 'data-processing', 'export', 'sink'] as const;

export interface SyntheticBatch {
  readonly vehicle: string;
  readonly session: string;
  readonly seq: number;
  /** ms since the origin. */
  readonly intendedMs: number;
  /** Added to what the vehicle's `upload` takes (default 5 ms). */
  readonly uploadMs?: number;
  /** Where nothing is measured between sending and handling: ms by stage. */
  readonly gapMs?: Readonly<Record<string, number>>;
  /** ms by stage for which its replica's start was waited for. */
  readonly coldMs?: Readonly<Record<string, number>>;
  /** ms by stage that its clock is ahead. */
  readonly aheadMs?: Readonly<Record<string, number>>;
  /** Attempts before the one that was done, by stage. */
  readonly retries?: Readonly<Record<string, number>>;
  /** A stage that parks its event instead of emitting. */
  readonly parkedAt?: string;
  /** Ends there: what follows is in no file. */
  readonly lostAfter?: string;
  /** Closed by that batch's event: `seq` of another one of its session. */
  readonly closedBy?: number;
}

export interface SyntheticRun {
  readonly spans: readonly SpanRecord[];
  readonly records: readonly BatchRecord[];
}

/** Spans and records of batches as a pipeline would write them, each phase of a hop of a fixed length. */
export function syntheticRun(batches: readonly SyntheticBatch[]): SyntheticRun {
  const maker = new SpanMaker();
  const made = batches.map((batch) => ({ batch, ...maker.batch(batch) }));
  for (const { batch, reception } of made) {
    if (batch.closedBy === undefined) continue;
    const closing = made.find(
      (one) => one.batch.session === batch.session && one.batch.seq === batch.closedBy,
    );
    if (closing?.windowHandling !== undefined) maker.link(closing.windowHandling, reception, batch);
  }
  return { spans: maker.spans, records: made.map(({ record }) => record) };
}

interface Place {
  readonly traceId: string;
  readonly spanId: string;
}

interface NewSpan {
  readonly name: string;
  readonly stage: string;
  readonly parent: Place | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly marks?: string;
  readonly attributes?: Readonly<Record<string, SpanAttribute>>;
  readonly error?: boolean;
}

class SpanMaker {
  readonly spans: SpanRecord[] = [];
  #count = 0;

  batch(batch: SyntheticBatch) {
    const { vehicle, session, seq, intendedMs, uploadMs = 0 } = batch;
    const own = {
      [ATTRIBUTE.vehicle]: vehicle,
      [ATTRIBUTE.session]: session,
      [ATTRIBUTE.seq]: seq,
    };
    const zeroMs = ORIGIN_MS + intendedMs;
    const arrivedMs = zeroMs + 5 + uploadMs;
    const root = this.#add({
      name: 'batch',
      stage: 'load-generator',
      parent: undefined,
      startMs: zeroMs,
      endMs: arrivedMs + 20,
      attributes: own,
    });
    const upload = this.#add({
      name: 'upload',
      stage: 'load-generator',
      parent: root,
      startMs: zeroMs + 1,
      endMs: arrivedMs + 19,
    });
    const uploadUs = Math.round((arrivedMs - zeroMs) * 1_000);
    const uploadMark = `upload:${-uploadUs}+${uploadUs}`;
    let { place, storedMs } = this.#hop(
      batch,
      'device-communication',
      upload,
      arrivedMs,
      uploadMark,
    );
    const reception = place;
    let windowHandling: Place | undefined;
    for (const stage of PIPELINE) {
      if (batch.lostAfter === stageBefore(stage) || batch.parkedAt === stageBefore(stage)) break;
      const deliveredMs = storedMs + 1;
      ({ place, storedMs } = this.#hop(batch, stage, place, deliveredMs, 'stream:-1000+1000'));
      if (stage === 'data-provider') {
        windowHandling = place;
        // Another one's event closes its window: its own trace ends here.
        if (batch.closedBy !== undefined) break;
      }
    }
    const record: BatchRecord = {
      ...unsentRecord({
        vehicle,
        session,
        seq,
        fromUs: seq * 1_000_000,
        untilUs: (seq + 1) * 1_000_000,
        frames: 10,
        bytes: 100,
        intendedMs,
        readyMs: intendedMs,
        traceId: root.traceId,
      }),
      outcome: 'stored',
      attempts: 1,
    };
    return { record, reception, windowHandling };
  }

  link(from: Place, to: Place, { vehicle, session, seq }: SyntheticBatch): void {
    const at = this.spans.findIndex(({ spanId }) => spanId === from.spanId);
    const span = this.spans[at] as SpanRecord;
    const attributes = {
      [ATTRIBUTE.vehicle]: vehicle,
      [ATTRIBUTE.session]: session,
      [ATTRIBUTE.seq]: seq,
    };
    const link: SpanLink = { ...to, attributes };
    this.spans[at] = { ...span, links: [...span.links, link] };
  }

  /** Delivery and handling: 0.2 ms activator (plus its start), 0.1 queue, 0.3 on the way in, 4 of work. */
  #hop(
    batch: SyntheticBatch,
    stage: string,
    parent: Place,
    startMs: number,
    before: string,
  ): { readonly place: Place; readonly storedMs: number } {
    const coldMs = batch.coldMs?.[stage] ?? 0;
    const attempts = batch.retries?.[stage] ?? 0;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      this.#add({
        name: 'deliver',
        stage,
        parent,
        startMs: startMs + attempt - 1,
        endMs: startMs + attempt - 0.5,
        attributes: { [ATTRIBUTE.attempt]: attempt, [ATTRIBUTE.settlement]: 'retry' },
        error: true,
      });
    }
    const beginMs = startMs + attempts;
    const coldUs = Math.round(coldMs * 1_000);
    const waits = [
      lengthened(before, attempts),
      'activator:0+200',
      ...(coldUs === 0 ? [] : [`coldStart:200+${coldUs}`]),
      `queue:${200 + coldUs}+100`,
    ].join(' ');
    const sentMs = beginMs + 0.3 + coldMs;
    const handledMs = sentMs + 0.3 + (batch.gapMs?.[stage] ?? 0);
    const aheadMs = batch.aheadMs?.[stage] ?? 0;
    const isParked = batch.parkedAt === stage;
    const delivery = this.#add({
      name: 'deliver',
      stage,
      parent,
      startMs: beginMs,
      endMs: handledMs + 6,
      marks: waits,
      attributes: {
        [ATTRIBUTE.attempt]: attempts + 1,
        ...(coldMs === 0
          ? {}
          : { [ATTRIBUTE.coldStartParts]: `boot:200+${Math.round(coldUs / 2)}` }),
      },
    });
    const place = this.#add({
      name: 'handle',
      stage,
      parent: delivery,
      startMs: handledMs + aheadMs,
      endMs: handledMs + aheadMs + 5,
      marks: `queue:-300+300 compute:0+1000 store:1000+2000 emit:3000+500 publish:3500+1000 compute:4500+500`,
      attributes: {
        [ATTRIBUTE.outcome]: isParked ? 'parked' : 'done',
        ...(isParked ? { [ATTRIBUTE.outcomeReason]: 'poison' } : {}),
        [ATTRIBUTE.vehicle]: batch.vehicle,
        [ATTRIBUTE.session]: batch.session,
        ...(stage === 'sink' ? { [ATTRIBUTE.window]: batch.seq } : {}),
      },
    });
    // The stream has the event in the middle of the emitter's publish.
    return { place, storedMs: handledMs + 4 };
  }

  #add(span: NewSpan): Place {
    this.#count += 1;
    const spanId = this.#count.toString(16).padStart(16, '0');
    const traceId = span.parent?.traceId ?? this.#count.toString(16).padStart(32, '0');
    const marks = parseMarks(span.marks ?? '', PHASES) ?? [];
    this.spans.push({
      traceId,
      spanId,
      parentSpanId: span.parent?.spanId ?? null,
      name: span.name,
      startMs: span.startMs,
      endMs: span.endMs,
      attributes: {
        [ATTRIBUTE.faasName]: span.stage,
        ...span.attributes,
        ...(marks.length === 0 ? {} : (phaseAttributes(marks) as Record<string, SpanAttribute>)),
      },
      links: [],
      error: span.error ?? false,
      errorMessage: '',
      service: span.name === 'deliver' ? 'local-cluster' : span.stage,
      instance: span.name === 'deliver' ? 'local-cluster-1' : `${span.stage}-0`,
      marks,
    });
    return { traceId, spanId };
  }
}

const stageBefore = (stage: string): string =>
  ['device-communication', ...PIPELINE][PIPELINE.indexOf(stage as 'sink')] ?? '';

/** The stream's wait of a later attempt begins where the first one's does. */
function lengthened(before: string, attempts: number): string {
  if (!before.startsWith('stream:')) return before;
  const us = 1_000 + attempts * 1_000;
  return `stream:${-us}+${us}`;
}
