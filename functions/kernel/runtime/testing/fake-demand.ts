import type { Clock } from '../../core/clock.ts';
import type { DemandRunner } from '../../demand/demand-runner.ts';
import type { BurstReport, Place } from '../../demand/demand.ts';
import type { Store } from '../../store/store.ts';
import { StageDemand } from '../stage-demand.ts';
import type { StageDefinition } from '../stage.ts';

export const exampleReport = (change: Partial<BurstReport> = {}): BurstReport => ({
  kind: 'cpuTime',
  place: 'before',
  nominal: 50,
  mode: 'inline',
  steps: 40_000_000,
  cpuMs: 50.5,
  wallMs: 60,
  readyMs: 9,
  restMs: 0.5,
  involuntarySwitches: 2,
  rate: 0.99,
  queuedMs: 0,
  aborted: false,
  ...change,
});

export interface FakeRunner extends DemandRunner {
  /** Places executed so far, with the key they were executed for. */
  readonly executed: string[];
  /** A burst ends when the caller has gone, and not before; else at once. */
  isEndless: boolean;
}

/** Executes nothing, and says that it did. */
export function fakeRunner(
  places: readonly Place[],
  payloadBytes: Partial<Record<Place, number>> = {},
): FakeRunner {
  const runner: FakeRunner = {
    executed: [],
    isEndless: false,
    has: (place) => places.includes(place),
    async run(place, signal, key = '') {
      runner.executed.push(`${place} ${key}`);
      if (runner.isEndless) {
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          else signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      return [exampleReport({ place, aborted: signal.aborted })];
    },
    payloadBytes: (place, key) => new Uint8Array(payloadBytes[place] ?? 0).fill(key.length),
    queueLength: 0,
    close: async () => {},
  };
  return runner;
}

export const fakeDemand = (
  runner: DemandRunner,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  stage: StageDefinition['name'] = 'export',
): StageDemand =>
  new StageDemand({
    stage,
    runner,
    settings: { demand: 'cpuTime:50ms@before', placement: 'inline', seed: 1 },
    clock,
    store,
    instance: `${stage}-1-2`,
  });
