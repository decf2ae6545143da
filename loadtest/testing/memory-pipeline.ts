import { gzipSync } from 'node:zlib';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createCampaignStage } from '#functions/campaign/function.ts';
import { createDataProcessingStage } from '#functions/data-processing/function.ts';
import { createDataProviderStage } from '#functions/data-provider/function.ts';
import { createDeviceCommunicationStage } from '#functions/device-communication/function.ts';
import { createExportStage } from '#functions/export/function.ts';
import { CATALOG, PING_TYPE, type StageName } from '#eventing/contracts/catalog.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { encodeBatch } from '#kernel/batch/batch-codec.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import type { Random } from '#kernel/core/random.ts';
import { emissionEvent } from '#kernel/runtime/emitter.ts';
import { serveStage, type ServedStage } from '#kernel/runtime/testing/serve-stage.ts';
import type { StageContext, StageDefinition } from '#kernel/runtime/stage.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { silentLog } from '#kernel/system/log.ts';
import { loadCampaignFile } from '#cli/campaign-file.ts';
import { vehicleIdentity, type VehicleIdentity } from '#loadtest/vehicles/identities.ts';

const ENGINEER_TOKEN = 'engineer';

/** How events reach the stages: in order, or shuffled and repeated by chance. */
export type Weather = 'fair' | { readonly random: Random; readonly repeatShare: number };

/**
 * All five stages in one process and virtual time, joined by a queue instead of a broker: what the
 * stages make of a batch, whatever the order of the events, without the network's chance.
 */
export class MemoryPipeline {
  readonly clock = new VirtualClock(1_767_600_000_000);
  readonly store = memoryStore();
  readonly #stages: readonly StageDefinition[];
  readonly #servers = new Map<StageName, ServedStage>();
  readonly #weather: Weather;
  readonly #emulating: readonly StageName[];
  #queue: { readonly consumer: StageName; readonly event: CloudEvent }[] = [];
  #token = '';
  #ticks = 0;

  private constructor(exportFolder: string, weather: Weather, emulating: readonly StageName[]) {
    this.#weather = weather;
    this.#emulating = emulating;
    const engineerTokenSha256 = sha256Hex(ENGINEER_TOKEN);
    this.#stages = [
      createCampaignStage({ engineerTokenSha256, randomBytes: (n) => Buffer.alloc(n, 7) }),
      createDeviceCommunicationStage(),
      createDataProviderStage(),
      createDataProcessingStage(),
      createExportStage({ filesUrl: `folder:${exportFolder}`, engineerTokenSha256 }),
    ];
  }

  /**
   * A pipeline with the example campaign running and one vehicle known to it. For the work of the
   * `emulating` stages stands a demand.
   */
  static async start(
    exportFolder: string,
    weather: Weather = 'fair',
    campaignFile = 'examples/campaigns/demo.yaml',
    emulating: readonly StageName[] = [],
  ): Promise<MemoryPipeline> {
    const pipeline = new MemoryPipeline(exportFolder, weather, emulating);
    for (const stage of pipeline.#stages) {
      pipeline.#servers.set(stage.name, await serveStage(stage, pipeline.#context(stage)));
    }
    const { text, decoders } = await loadCampaignFile(campaignFile);
    for (const { name, bytes } of decoders) {
      await pipeline.#engineer(`/v1/decoders?name=${name}`, bytes, 'application/octet-stream');
    }
    await pipeline.#engineer('/v1/campaigns', Buffer.from(text), 'application/yaml');
    for (const verb of ['approve', 'start']) {
      await pipeline.#engineer(`/v1/campaigns/demo/${verb}`, Buffer.alloc(0));
    }
    const { vehicle } = pipeline.identity;
    const issued = await pipeline.#engineer(`/v1/vehicles/${vehicle}/tokens`, Buffer.alloc(0));
    pipeline.#token = (issued as { token: string }).token;
    return pipeline;
  }

  get identity(): VehicleIdentity {
    return vehicleIdentity(1, 0);
  }

  #context(stage: StageDefinition): StageContext {
    return {
      clock: this.clock,
      store: this.store,
      log: silentLog,
      software: 'tachograph/test',
      emit: async (emission, cause) => {
        const event = emissionEvent(stage.name, emission, cause, this.clock.nowMs());
        const row = CATALOG.find(({ type }) => type === event.type);
        for (const consumer of row?.consumers ?? []) this.#queue.push({ consumer, event });
      },
    };
  }

  async #engineer(url: string, payload: Buffer | Uint8Array, type?: string): Promise<unknown> {
    const answer = await this.#servers.get('campaign')?.inject({
      method: 'POST',
      url,
      headers: {
        authorization: `Bearer ${ENGINEER_TOKEN}`,
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      payload: Buffer.from(payload),
    });
    if (answer === undefined || answer.statusCode >= 300) {
      throw new Error(`${url} was answered ${answer?.statusCode}: ${answer?.body}`);
    }
    return answer.json();
  }

  /** Uploads a batch; the status of the answer. */
  async upload(batch: Batch): Promise<number> {
    const answer = await this.#servers.get('device-communication')?.inject({
      method: 'POST',
      url: `/v1/vehicles/${batch.vehicle}/batches`,
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': 'application/cbor',
        'content-encoding': 'gzip',
      },
      payload: gzipSync(encodeBatch(batch, 'cbor')),
    });
    return answer?.statusCode ?? 0;
  }

  /** What the platform's PingSource does every few minutes. */
  tick(): void {
    const id = `ping-${++this.#ticks}`;
    const event = { id, source: '/ping', type: PING_TYPE, extensions: {}, data: new Uint8Array() };
    this.#queue.push({ consumer: 'data-provider', event });
  }

  /** Delivers until nothing is left; fails when that takes more deliveries than could be right. */
  async drain(maxDeliveries = 100_000): Promise<void> {
    for (let count = 0; this.#queue.length > 0; count++) {
      if (count > maxDeliveries) throw new Error(`No end after ${maxDeliveries} deliveries`);
      const next = this.#next();
      const stage = this.#stages.find(({ name }) => name === next.consumer);
      if (stage === undefined) throw new Error(`There is no stage ${next.consumer}`);
      const { signal } = new AbortController();
      const context = this.#context(stage);
      const outcome = this.#emulating.includes(stage.name)
        ? await stage.emulate?.(next.event, context, signal)
        : await stage.handle(next.event, context, signal);
      if (outcome === undefined) throw new Error(`Nothing stands for the work of ${stage.name}`);
      if (outcome.kind === 'retry') this.#queue.push(next);
      if (outcome.kind === 'parked') throw new Error(`${outcome.reason}: ${outcome.detail}`);
    }
  }

  #next(): { readonly consumer: StageName; readonly event: CloudEvent } {
    const weather = this.#weather;
    const index = weather === 'fair' ? 0 : weather.random.below(this.#queue.length);
    const [next] = this.#queue.splice(index, 1);
    if (next === undefined) throw new Error('The queue is empty');
    if (weather !== 'fair' && weather.random.next() < weather.repeatShare) this.#queue.push(next);
    return next;
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) await server.close();
  }
}

/** Path → SHA-256 of every compacted file below an export root (parts and sidecars left out). */
export function compactedFiles(root: string): Record<string, string> {
  const files: Record<string, string> = {};
  const walk = (folder: string): void => {
    for (const name of readdirSync(folder).toSorted()) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) {
        if (name !== 'parts') walk(path);
      } else if (name !== 'session.json') {
        files[relative(root, path)] = sha256Hex(readFileSync(path));
      }
    }
  };
  walk(root);
  return files;
}
