import type { BurstReport } from '../../demand/demand.ts';
import type { Outcome } from '../../runtime/stage.ts';
import { MeterBook } from './meter-book.ts';
import { METRIC, METRIC_ATTRIBUTE, SHARE_BOUNDARIES } from './metric-names.ts';

export interface RequestNote {
  readonly method: string;
  /** The pattern and not the path; '' where no route was found. */
  readonly route: string;
  /** null: the caller had gone. */
  readonly status: number | null;
  readonly ms: number;
}

/** Methods that a stage knows; what else somebody may send is one label. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** What a stage counts of itself. Every call is a few additions. */
export class StageMetrics {
  readonly book = new MeterBook();
  readonly #dbSystem: string;

  /** `dbSystem`: `sqlite` or `mongodb`. */
  constructor(dbSystem: string) {
    this.#dbSystem = dbSystem;
    this.book.add(METRIC.coldStarts, 1);
  }

  /** The process listens, so many ms after its begin. */
  noteStart(ms: number): void {
    this.book.record(METRIC.initDuration, ms / 1_000);
  }

  requestBegun(): void {
    this.book.add(METRIC.httpActive, 1);
  }

  requestEnded({ method, route, status, ms }: RequestNote): void {
    this.book.add(METRIC.httpActive, -1);
    this.book.record(METRIC.httpDuration, ms / 1_000, {
      [METRIC_ATTRIBUTE.method]: METHODS.has(method) ? method : '_OTHER',
      [METRIC_ATTRIBUTE.route]: route,
      [METRIC_ATTRIBUTE.status]: status ?? 499,
    });
  }

  /** `eventType`: one that the stage consumes, else `_OTHER`. `code`: of the error that ended it. */
  eventHandled(eventType: string, outcome: Outcome['kind'] | 'failed', ms: number): void {
    this.book.record(METRIC.processDuration, ms / 1_000, {
      [METRIC_ATTRIBUTE.eventType]: eventType,
      [METRIC_ATTRIBUTE.outcome]: outcome,
    });
  }

  eventParked(reason: string): void {
    this.book.add(METRIC.parked, 1, { [METRIC_ATTRIBUTE.reason]: reason });
  }

  emitted(ms: number, failed: boolean): void {
    this.book.record(METRIC.publishDuration, ms / 1_000, {
      [METRIC_ATTRIBUTE.operation]: 'publish',
      ...(failed ? { [METRIC_ATTRIBUTE.errorType]: 'EMIT_FAILED' } : {}),
    });
  }

  stored(operation: string, collection: string, ms: number, code: string): void {
    this.book.record(METRIC.storeDuration, ms / 1_000, {
      [METRIC_ATTRIBUTE.dbSystem]: this.#dbSystem,
      [METRIC_ATTRIBUTE.dbOperation]: operation,
      [METRIC_ATTRIBUTE.dbCollection]: collection,
      ...(code === '' ? {} : { [METRIC_ATTRIBUTE.errorType]: code }),
    });
  }

  duplicate(): void {
    this.book.add(METRIC.duplicates, 1);
  }

  bursts(reports: readonly BurstReport[]): void {
    for (const { kind, cpuMs, nominal, aborted } of reports) {
      if (kind !== 'cpuTime' && kind !== 'work') continue;
      this.book.add(METRIC.burstCpu, cpuMs / 1_000);
      // Of `work` the CPU time follows the machine: it is no error.
      if (kind !== 'cpuTime' || aborted || nominal <= 0) continue;
      this.book.record(METRIC.burstError, cpuMs / nominal - 1, {}, SHARE_BOUNDARIES);
    }
  }
}
