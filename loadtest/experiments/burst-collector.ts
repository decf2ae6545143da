import type { BurstsAnswer } from '#kernel/runtime/demand-routes.ts';
import type { BurstRecord, StageDemandConfig } from '#loadtest/results/burst-record.ts';

/** Reads a stage's bursts after those named; undefined for a stage without a demand. */
export type ReadBursts = (stage: string, after: string) => Promise<BurstsAnswer | undefined>;

/** What was collected of one stage. */
interface Collected {
  readonly settings: StageDemandConfig;
  /** Instance → number of the newest burst read. */
  readonly readUpTo: Map<string, number>;
  lost: number;
}

/** Collects the bursts of all stages with a demand while a run goes on. */
export class BurstCollector {
  readonly #read: ReadBursts;
  readonly #stages = new Map<string, Collected>();
  readonly #records: BurstRecord[] = [];

  constructor(read: ReadBursts) {
    this.#read = read;
  }

  /** Finds out which stages have a demand; the bursts before this belong to somebody else. */
  async begin(stages: readonly string[]): Promise<void> {
    for (const stage of stages) {
      const answer = await this.#read(stage, '');
      if (answer === undefined) continue;
      const { demand, placement, seed, instance, newest } = answer;
      const settings = { demand, placement, seed };
      this.#stages.set(stage, { settings, readUpTo: new Map([[instance, newest]]), lost: 0 });
    }
  }

  /** Reads what is new. */
  async poll(): Promise<void> {
    for (const [stage, collected] of this.#stages) {
      const after = [...collected.readUpTo].map(([instance, n]) => `${instance}:${n}`).join(',');
      const answer = await this.#read(stage, after);
      if (answer !== undefined) this.#take(stage, collected, answer);
    }
  }

  /** Two polls at once may read the same rows: only what is newer than the newest counts. */
  #take(stage: string, { readUpTo, ...collected }: Collected, answer: BurstsAnswer): void {
    const { instance, rows } = answer;
    let newest = readUpTo.get(instance) ?? 0;
    let lost = 0;
    for (const row of rows) {
      if (row.n <= newest) continue;
      lost += row.n - newest - 1;
      newest = row.n;
      this.#records.push({ stage, instance, ...row });
    }
    readUpTo.set(instance, newest);
    this.#stages.set(stage, { ...collected, readUpTo, lost: collected.lost + lost });
  }

  get records(): readonly BurstRecord[] {
    return this.#records;
  }

  /** By stage with a demand. */
  get demands(): Readonly<Record<string, StageDemandConfig>> {
    return Object.fromEntries([...this.#stages].map(([stage, { settings }]) => [stage, settings]));
  }

  /** By stage with a demand: bursts whose rows were gone before they were read. */
  get lost(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#stages].map(([stage, { lost }]) => [stage, lost]));
  }
}
