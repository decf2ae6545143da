import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { eventType, type WindowReady } from '#eventing/contracts/catalog.ts';
import { encodeBatch } from '#kernel/batch/batch-codec.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { batchId, campaignId, prefixEnd, windowId } from '#kernel/core/ids.ts';
import type { CampaignDefinition, CampaignFact } from '#kernel/facts/campaign.ts';
import type { BatchFact, ResultFact, WindowFact } from '#kernel/facts/facts.ts';
import { emissionEvent } from '#kernel/runtime/emitter.ts';
import type { Emission, Outcome, StageContext } from '#kernel/runtime/stage.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { silentLog } from '#kernel/system/log.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { createDataProcessingStage } from '../function.ts';
import { bytesOf, DBC } from './window-fixtures.ts';
import { exampleDefinition } from '#kernel/facts/testing/example-campaign.ts';

export const DBC_SHA256 = sha256Hex(DBC);

export const DEFINITION = exampleDefinition({ decoders: { can0: DBC_SHA256 } });

/** The stage over a store in memory; emissions are kept, and fail on request. */
export class ProcessingBench {
  readonly store = memoryStore();
  readonly emitted: CloudEvent[] = [];
  readonly warnings: string[] = [];
  software = 'tachograph/1.0.0';
  failEmissions = 0;
  readonly #stage = createDataProcessingStage();

  async addCampaign(definition: CampaignDefinition = DEFINITION): Promise<void> {
    const fact: CampaignFact = {
      campaign: 'c1',
      version: 1,
      state: 'running',
      definition,
      definitionSha256: sha256Hex(JSON.stringify(definition)),
      createdAtMs: 0,
      by: 'test',
    };
    await this.store.insert('campaigns', campaignId('c1', 1), fact);
  }

  async addDecoder(text = DBC): Promise<void> {
    const sha256 = sha256Hex(text);
    const fact = { sha256, name: 'test.dbc', bytes: bytesOf(text), createdAtMs: 0 };
    await this.store.insert('decoders', sha256, fact);
  }

  async addBatch(batch: Batch, change: Partial<BatchFact> = {}): Promise<void> {
    const { vehicle, session, seq } = batch;
    const body = encodeBatch(batch, 'cbor');
    const fact: BatchFact = {
      vehicle,
      session,
      seq,
      contentType: 'application/cbor',
      contentEncoding: '',
      body,
      sha256: sha256Hex(body),
      receivedAtMs: 0,
      ...change,
    };
    await this.store.insert('batches', batchId(vehicle, session, seq), fact);
  }

  /** Window 0 of one second, all batches its own, unless said otherwise. */
  async addWindow(seqs: readonly number[], change: Partial<WindowFact> = {}): Promise<void> {
    const fact: WindowFact = {
      vehicle: 'v1',
      session: 's1',
      window: 0,
      revision: 1,
      campaign: 'c1',
      campaignVersion: 1,
      fromUs: 0,
      untilUs: 1_000_000,
      seqs,
      ownSeqs: seqs,
      gaps: [],
      reason: 'covered',
      closedBy: 'test',
      ...change,
    };
    const id = windowId(fact.vehicle, fact.session, fact.window, fact.revision);
    await this.store.insert('windows', id, fact);
  }

  /** A window 0 of the given batches with its campaign and decoder: everything the stage needs. */
  static async with(...batches: readonly Batch[]): Promise<ProcessingBench> {
    const bench = new ProcessingBench();
    await bench.addCampaign();
    await bench.addDecoder();
    for (const batch of batches) await bench.addBatch(batch);
    await bench.addWindow(batches.map((batch) => batch.seq));
    return bench;
  }

  handle(
    ready: Partial<WindowReady> = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Outcome> {
    const data = { vehicle: 'v1', session: 's1', window: 0, revision: 1, ...ready };
    const event: CloudEvent = {
      id: 'data-provider/test',
      source: '/tachograph/data-provider',
      type: eventType('window.ready.v1'),
      subject: data.vehicle,
      datacontenttype: 'application/json',
      extensions: {},
      data: bytesOf(JSON.stringify(data)),
    };
    return this.#stage.handle(event, this.#context(), signal);
  }

  async results(): Promise<ResultFact[]> {
    const found = await this.store.range('results', 'v1/', prefixEnd('v1/'), { limit: 100 });
    return found.map(({ document }) => document as ResultFact);
  }

  #context(): StageContext {
    const clock = new VirtualClock();
    return {
      clock,
      store: this.store,
      log: { ...silentLog, warn: (message) => void this.warnings.push(message) },
      software: this.software,
      emit: async (emission: Emission, cause) => {
        if (this.failEmissions > 0) {
          this.failEmissions -= 1;
          throw new Error('no broker');
        }
        this.emitted.push(emissionEvent('data-processing', emission, cause, clock.nowMs()));
      },
    };
  }
}
