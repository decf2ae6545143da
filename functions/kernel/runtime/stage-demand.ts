import { anyTextPart } from './any-text-part.ts';
import type { StageName } from '#eventing/contracts/catalog.ts';
import type { Clock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import type { Phase } from '../core/phases.ts';
import type { DemandRunner } from '../demand/demand-runner.ts';
import type { BurstReport, Place } from '../demand/demand.ts';
import type { PayloadFact } from '../facts/facts.ts';
import type { Store } from '../store/store.ts';
import { sha256Hex } from '../system/sha256.ts';
import type { StageMetrics } from '../telemetry/metrics/stage-metrics.ts';
import type { RequestSpan } from '../telemetry/stage-telemetry.ts';
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
  /** The span of the work at hand, of which a burst is a part; absent where nothing is traced. */
  readonly span?: () => BurstSpan | undefined;
  /** Now, as that span has it: epoch ms with a fraction. */
  readonly nowMs?: () => number;
  readonly metrics?: StageMetrics | undefined;
}

/** What of a span a burst needs. */
export type BurstSpan = Pick<RequestSpan, 'mark'>;

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
    const reports = await runner.run(place, signal, cause.key);
    this.bursts.note(reports, clock.nowMs());
    this.#markPhases(reports);
    this.#options.metrics?.bursts(reports);
    if (signal.aborted) throw new TachographError('CALLER_GONE');
    await this.#storePayload(runner.payloadBytes(place, cause.key), place, cause);
  }

  /**
   * The bursts that have just ended, one after the other up to this moment, each as a stretch of CPU time,
   * one of waiting for a CPU and the rest: their order within a burst is not known, only their lengths.
   */
  #markPhases(reports: readonly BurstReport[]): void {
    const { nowMs } = this.#options;
    const span = this.#options.span?.();
    if (span === undefined || nowMs === undefined) return;
    const stretches = reports.flatMap(stretchesOf);
    let fromMs = nowMs() - stretches.reduce((sum, [, ms]) => sum + ms, 0);
    for (const [phase, ms] of stretches) {
      span.mark(phase, fromMs, fromMs + ms);
      fromMs += ms;
    }
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

  /** Bursts that wait for a free burner. */
  get queued(): number {
    return this.#options.runner.queueLength;
  }

  close(): Promise<void> {
    return this.#options.runner.close();
  }
}

/** Each is measured; the rest of a burst without CPU work is all of it. */
function stretchesOf(report: BurstReport): readonly (readonly [Phase, number])[] {
  const { queuedMs, cpuMs, wallMs } = report;
  const readyMs = report.readyMs ?? 0;
  // Readings of the clocks overlap by some µs: of a short burst the rest can be below 0.
  const restMs = Math.max(0, report.restMs ?? wallMs - cpuMs - readyMs);
  return [
    ['queue', queuedMs],
    ['burnCpu', cpuMs],
    ['burnReady', readyMs],
    ['burnRest', restMs],
  ];
}
