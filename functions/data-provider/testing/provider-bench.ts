import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { eventType, PING_TYPE } from '#eventing/contracts/catalog.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { batchId, campaignId } from '#kernel/core/ids.ts';
import { exampleCampaign } from '#kernel/facts/testing/example-campaign.ts';
import type { ReceiptFact, SessionFact, WindowFact } from '#kernel/facts/facts.ts';
import { emissionEvent } from '#kernel/runtime/emitter.ts';
import type { Emission, Outcome, StageContext, StageDefinition } from '#kernel/runtime/stage.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { readPrefix } from '#kernel/store/read-prefix.ts';
import { silentLog } from '#kernel/system/log.ts';
import type { RequestSpan } from '#kernel/telemetry/stage-telemetry.ts';
import { createDataProviderStage } from '../function.ts';

/** A bench for the stage: a store in memory, virtual time, emissions kept, faults on request. */
export class ProviderBench {
  readonly clock = new VirtualClock(1_767_600_000_000);
  readonly store = memoryStore();
  readonly emitted: CloudEvent[] = [];
  /** The n-th next emission fails (1: the very next one); 0: none. */
  failEmission = 0;
  /** Of what is handled; undefined: nothing is traced. */
  span: RequestSpan | undefined;
  #stages: StageDefinition[] = [];

  constructor(replicas = 1) {
    this.#stages = Array.from({ length: replicas }, () => createDataProviderStage());
  }

  /** Forgets everything that lives in memory, as a new process would. */
  restart(): void {
    this.#stages = this.#stages.map(() => createDataProviderStage());
  }

  get context(): StageContext {
    return {
      clock: this.clock,
      store: this.store,
      log: silentLog,
      software: 'test/0',
      span: () => this.span,
      emit: async (emission: Emission, cause) => {
        if (this.failEmission > 0 && --this.failEmission === 0) throw new Error('no broker');
        this.emitted.push(emissionEvent('data-provider', emission, cause, this.clock.nowMs()));
      },
    };
  }

  async addCampaign(): Promise<void> {
    await this.store.insert('campaigns', campaignId('demo', 1), exampleCampaign('demo', 1));
  }

  async addReceipt(receipt: ReceiptFact): Promise<void> {
    const { vehicle, session, seq } = receipt;
    await this.store.insert('receipts', batchId(vehicle, session, seq), receipt);
  }

  stored(receipt: ReceiptFact): CloudEvent {
    const { vehicle, session, seq } = receipt;
    return {
      id: `device-communication/${batchId(vehicle, session, seq)}`,
      source: '/tachograph/device-communication',
      type: eventType('batch.stored.v1'),
      subject: vehicle,
      datacontenttype: 'application/json',
      extensions: {},
      data: Buffer.from(JSON.stringify({ vehicle, session, seq })),
    };
  }

  handle(event: CloudEvent, replica = 0): Promise<Outcome> {
    const stage = this.#stages[replica];
    if (stage === undefined) throw new Error(`There is no replica ${replica}`);
    return stage.handle(event, this.context, new AbortController().signal);
  }

  /** What the stage does when a demand stands for its work. */
  async emulate(event: CloudEvent): Promise<Outcome | undefined> {
    return this.#stages[0]?.emulate?.(event, this.context, new AbortController().signal);
  }

  /** A batch comes in: its receipt, then its event. */
  async arrive(receipt: ReceiptFact, replica = 0): Promise<Outcome> {
    await this.addReceipt(receipt);
    return this.handle(this.stored(receipt), replica);
  }

  tick(id: string): Promise<Outcome> {
    const event = { id, source: '/ping', type: PING_TYPE, extensions: {}, data: Buffer.alloc(0) };
    return this.handle(event);
  }

  async windows(): Promise<WindowFact[]> {
    const facts: WindowFact[] = [];
    for await (const found of readPrefix<WindowFact>(this.store, 'windows', '')) {
      facts.push(found.document);
    }
    return facts;
  }

  /** Window → the set of batches of its newest revision. */
  async newestSets(): Promise<Record<number, readonly number[]>> {
    const sets: Record<number, readonly number[]> = {};
    for (const fact of await this.windows()) sets[fact.window] = fact.seqs;
    return sets;
  }

  async sessions(): Promise<SessionFact[]> {
    const facts: SessionFact[] = [];
    for await (const found of readPrefix<SessionFact>(this.store, 'sessions', '')) {
      facts.push(found.document);
    }
    return facts;
  }

  get emittedIds(): string[] {
    return this.emitted.map((event) => event.id);
  }
}
