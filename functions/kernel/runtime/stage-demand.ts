import { anyTextPart } from './any-text-part.ts';
import type { StageName } from '#eventing/contracts/catalog.ts';
import type { Clock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import type { DemandRunner } from '../demand/demand-runner.ts';
import type { Place } from '../demand/demand.ts';
import type { PayloadFact } from '../facts/facts.ts';
import type { Store } from '../store/store.ts';
import { sha256Hex } from '../system/sha256.ts';
import { BurstLog } from './burst-log.ts';

/** What was asked for, as `GET /bursts` says it. */
export interface DemandSettings {
  /** The demands in their canonical form. */
  readonly demand: string;
  /** `inline` or `workers:N`. */
  readonly placement: string;
  readonly seed: number;
}

export interface StageDemandOptions {
  readonly stage: StageName;
  readonly runner: DemandRunner;
  readonly settings: DemandSettings;
  readonly clock: Clock;
  readonly store: Store;
  /** Tells this process from other replicas and from earlier ones. */
  readonly instance: string;
}

/** Whom a demand is executed for. */
export interface DemandCause {
  /** Of the event or upload: the same at a repeat, so that its payload is the same too. */
  readonly key: string;
  /** The vehicle, where there is one. */
  readonly subject: string | undefined;
}

/** The demands of a stage while it runs. There is none where no demand is set. */
export class StageDemand {
  readonly settings: DemandSettings;
  readonly instance: string;
  readonly bursts = new BurstLog();
  readonly #options: StageDemandOptions;

  constructor(options: StageDemandOptions) {
    this.#options = options;
    this.settings = options.settings;
    this.instance = options.instance;
  }

  /** Bursts that wait for a free burner. */
  get queueLength(): number {
    return this.#options.runner.queueLength;
  }

  has(place: Place): boolean {
    return this.#options.runner.has(place);
  }

  /**
   * Executes what is asked at the place. Throws CALLER_GONE when the signal aborted (the burst then ended
   * early, and its report says so), DEMAND_QUEUE_FULL, and what the store throws.
   */
  async consume(place: Place, cause: DemandCause, signal: AbortSignal): Promise<void> {
    const { runner, clock } = this.#options;
    if (!runner.has(place)) return;
    this.bursts.note(await runner.run(place, signal, cause.key), clock.nowMs());
    if (signal.aborted) throw new TachographError('CALLER_GONE');
    await this.#storePayload(runner.payloadBytes(place, cause.key), place, cause);
  }

  /** As a fact of its own: it makes no other fact larger, which would be read back again and again. */
  async #storePayload(
    bytes: Uint8Array,
    place: Place,
    { key, subject }: DemandCause,
  ): Promise<void> {
    if (bytes.length === 0) return;
    const { stage, store } = this.#options;
    const fact: PayloadFact = { stage, bytes };
    const id = `${anyTextPart(subject ?? 'unknown')}/${stage}/${anyTextPart(key)}/${place}`;
    await store.insert('payloads', id, { ...fact }, sha256Hex(bytes));
  }

  close(): Promise<void> {
    return this.#options.runner.close();
  }
}
