import { isDeepStrictEqual } from 'node:util';
import type { NodeConfig } from '#infra/autoscaling/node/node-config.ts';
import { decideNodes, startNodes, type NodeState } from '#infra/autoscaling/node/node-policy.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { PolicyEngine } from './policy-engine.ts';

export interface ReplayedService {
  readonly service: string;
  readonly policy: string;
  readonly decisions: number;
  readonly differences: readonly DecisionDifference[];
  /** Differences beyond those kept. */
  readonly moreDifferences: number;
}

export interface DecisionDifference {
  /** Line of decisions.ndjson, from 1. */
  readonly line: number;
  readonly atMs: number;
  /** Fields of the decision that differ: as recorded, and as given now. */
  readonly fields: readonly {
    readonly name: string;
    readonly recorded: unknown;
    readonly replayed: unknown;
  }[];
}

const MAX_KEPT = 20;

interface Replay {
  readonly engine: PolicyEngine;
  readonly result: {
    service: string;
    policy: string;
    decisions: number;
    differences: DecisionDifference[];
    moreDifferences: number;
  };
}

/**
 * Feeds the observations of a run's decisions.ndjson to the policies again, in order, and compares each
 * decision with the recorded one. Throws RECORD_INVALID for a decision without a policy before it.
 *
 * A decision that a policy of the user's own failed to give is not compared: its reason may have been
 * the machine (it took too long).
 */
export async function replayDecisions(
  rows: AsyncIterable<DecisionRow>,
  openEngine: (row: Extract<DecisionRow, { kind: 'policy' }>) => PolicyEngine,
): Promise<readonly ReplayedService[]> {
  const replays = new Map<string, Replay>();
  const nodes = new NodeReplay();
  let line = 0;
  try {
    for await (const row of rows) {
      line += 1;
      if (row.kind === 'nodePolicy' || row.kind === 'nodeDecision') {
        nodes.take(row, line);
        continue;
      }
      if (row.kind === 'policy') {
        await replays.get(row.service)?.engine.close();
        replays.set(row.service, begin(row, openEngine(row)));
        continue;
      }
      const replay = replays.get(row.service);
      if (replay === undefined) {
        const detail = `line ${line} is a decision for ${row.service} without its policy before it`;
        throw new TachographError('RECORD_INVALID', { file: 'decisions.ndjson', detail });
      }
      await replayOne(replay, row, line).catch((cause: unknown) => {
        if (cause instanceof TachographError) throw cause;
        const detail = `line ${line} is not what a policy observes: ${String(cause)}`;
        throw new TachographError(
          'RECORD_INVALID',
          { file: 'decisions.ndjson', detail },
          { cause },
        );
      });
    }
  } finally {
    for (const { engine } of replays.values()) await engine.close();
  }
  return [...[...replays.values()].map(({ result }) => result), ...nodes.results];
}

function begin(row: Extract<DecisionRow, { kind: 'policy' }>, engine: PolicyEngine): Replay {
  engine.start({ nowMs: row.atMs, ready: row.ready });
  const { service, policy } = row;
  return {
    engine,
    result: { service, policy, decisions: 0, differences: [], moreDifferences: 0 },
  };
}

async function replayOne(
  { engine, result }: Replay,
  row: Extract<DecisionRow, { kind: 'decision' }>,
  line: number,
): Promise<void> {
  result.decisions += 1;
  if (row.decision.details['failed'] === true) return;
  // What was written as JSON has no undefined and no -0: the same is done to what is compared with it.
  const replayed = asWritten(await engine.decide(row.observation, row.atMs));
  compare(result, line, row.atMs, row.decision, replayed);
}

type Result = Replay['result'];

function compare(
  result: Result,
  line: number,
  atMs: number,
  recorded: object,
  replayed: object,
): void {
  const of = (decision: object, name: string): unknown =>
    (decision as Readonly<Record<string, unknown>>)[name];
  const fields = Object.keys({ ...recorded, ...replayed })
    .filter((name) => !isDeepStrictEqual(of(recorded, name), of(replayed, name)))
    .map((name) => ({ name, recorded: of(recorded, name), replayed: of(replayed, name) }));
  if (fields.length === 0) return;
  if (result.differences.length < MAX_KEPT) result.differences.push({ line, atMs, fields });
  else result.moreDifferences += 1;
}

const asWritten = <T>(decision: T): T => JSON.parse(JSON.stringify(decision)) as T;

/** The node-based policy: one for all its Services. */
class NodeReplay {
  #config: NodeConfig | undefined;
  #state: NodeState | undefined;
  readonly #result: Result = {
    service: 'nodes',
    policy: 'node',
    decisions: 0,
    differences: [],
    moreDifferences: 0,
  };

  get results(): readonly ReplayedService[] {
    return this.#config === undefined ? [] : [this.#result];
  }

  take(row: Extract<DecisionRow, { kind: 'nodePolicy' | 'nodeDecision' }>, line: number): void {
    if (row.kind === 'nodePolicy') {
      this.#config = row.config;
      this.#state = startNodes(row.config, row.atMs);
      return;
    }
    if (this.#config === undefined || this.#state === undefined) {
      const detail = `line ${line} is a decision of the node-based policy without its settings before it`;
      throw new TachographError('RECORD_INVALID', { file: 'decisions.ndjson', detail });
    }
    const step = decideNodes(this.#config, this.#state, row.observation, row.atMs);
    this.#state = step.state;
    this.#result.decisions += 1;
    compare(this.#result, line, row.atMs, row.decision, asWritten(step.decision));
  }
}
