import { gunzipSync } from 'node:zlib';
import { decodeBatch } from '#kernel/batch/batch-codec.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import type { CampaignDefinition } from '#kernel/facts/campaign.ts';
import type { Answer } from '../upload-verdict.ts';
import type { UploadRequest } from '../upload-request.ts';
import type { CampaignReport } from '../vehicle.ts';
import type { VehicleTransport } from '../vehicle-transport.ts';
import { exampleDefinition } from '#kernel/facts/testing/example-campaign.ts';

export const answerOf = (
  status: number,
  body: object = {},
  headers: Answer['headers'] = {},
): Answer => ({ status, headers, body: JSON.stringify(body) });

/**
 * Stands for device-communication: stores batches, answers repeats as duplicates, and lets a test say
 * what else happens to an upload (`respond` answers before it is stored, `lose` cuts the answer off).
 */
export class FakeGateway implements VehicleTransport {
  readonly definition: CampaignDefinition;
  readonly batches: Batch[] = [];
  readonly requests: UploadRequest[] = [];
  readonly reports: (CampaignReport | null)[] = [];
  respond: (seq: number, attempt: number) => Answer | 'lose' | undefined = () => undefined;
  /** Called with each batch that is stored. */
  onStored: (batch: Batch) => void = () => undefined;
  readonly #attempts = new Map<string, number>();

  constructor(definition: CampaignDefinition) {
    this.definition = definition;
  }

  checkIn(_vehicle: string, report: CampaignReport | null): Promise<Answer> {
    this.reports.push(report);
    const { definition } = this;
    const due = { campaign: 'demo', version: 3, definitionSha256: 'ab'.repeat(32), definition };
    return Promise.resolve(answerOf(200, { campaigns: [due] }));
  }

  upload(request: UploadRequest, _signal?: AbortSignal): Promise<Answer> {
    this.requests.push(request);
    const batch = decodeBatch(gunzipSync(request.body), 'application/cbor');
    const key = `${batch.vehicle}/${batch.session}/${batch.seq}`;
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    const answer = this.respond(batch.seq, attempt);
    if (typeof answer === 'object') return Promise.resolve(answer);
    const isKnown = this.batches.some(
      (stored) => stored.vehicle === batch.vehicle && stored.seq === batch.seq,
    );
    if (!isKnown) {
      this.batches.push(batch);
      this.onStored(batch);
    }
    if (answer === 'lose') return Promise.reject(new Error('socket hang up'));
    return Promise.resolve(answerOf(isKnown ? 200 : 201, { duplicate: isKnown }));
  }
}

/** A campaign that records every frame and uploads once a second. */
export const recordAll = (change: Partial<CampaignDefinition> = {}): CampaignDefinition =>
  exampleDefinition({
    cache: { maxBytes: 10_000_000, whenFull: 'stopRecording' },
    ...change,
  });
