import type { BurstsAnswer } from '#kernel/runtime/bursts.ts';
import type { BurstRecord, StageDemandConfig } from '#loadtest/results/burst-record.ts';

/** What one replica of a stage with a demand has executed. */
export interface ReplicaBursts {
  readonly stage: string;
  readonly answer: BurstsAnswer;
}

/**
 * Reads the bursts of all replicas that are there, of each those after what `after` names for its stage
 * (`INSTANCE:N`, joined by commas; '' nothing). Stages without a demand are left out.
 */
export type ReadBursts = (after: (stage: string) => string) => Promise<readonly ReplicaBursts[]>;

/** What was collected of one stage. */
interface Collected {
  readonly settings: StageDemandConfig;
  /** Instance → number of the newest burst read. */
  readonly readUpTo: Map<string, number>;
  lost: number;
}

/**
 * Collects the bursts of all stages with a demand while a run goes on. What a replica executes after the
 * last reading before its end is not known; a replica is idle for some time before that, as a rule.
 */
export class BurstCollector {
  readonly #read: ReadBursts;
  readonly #stages = new Map<string, Collected>();
  readonly #records: BurstRecord[] = [];

  constructor(read: ReadBursts) {
    this.#read = read;
  }

  /** The bursts before this belong to somebody else. A replica that comes later has none. */
  async begin(): Promise<void> {
    for (const { stage, answer } of await this.#read(() => '')) {
      this.#collected(stage, answer).readUpTo.set(answer.instance, answer.newest);
    }
  }

  /** Reads what is new. */
  async poll(): Promise<void> {
    const after = (stage: string): string =>
      [...(this.#stages.get(stage)?.readUpTo ?? [])]
        .map(([instance, n]) => `${instance}:${n}`)
        .join(',');
    for (const { stage, answer } of await this.#read(after)) this.#take(stage, answer);
  }

  #collected(stage: string, { demand, placement, seed }: BurstsAnswer): Collected {
    const known = this.#stages.get(stage);
    if (known !== undefined) return known;
    const settings = { demand, placement, seed };
    const collected: Collected = { settings, readUpTo: new Map(), lost: 0 };
    this.#stages.set(stage, collected);
    return collected;
  }

  /** Two polls at once may read the same rows: only what is newer than the newest counts. */
  #take(stage: string, answer: BurstsAnswer): void {
    const { instance, rows } = answer;
    const collected = this.#collected(stage, answer);
    let newest = collected.readUpTo.get(instance) ?? 0;
    for (const row of rows) {
      if (row.n <= newest) continue;
      collected.lost += row.n - newest - 1;
      newest = row.n;
      this.#records.push({ stage, instance, ...row });
    }
    collected.readUpTo.set(instance, newest);
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
