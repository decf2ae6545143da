import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '#infra/autoscaling/policy.ts';
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
  let line = 0;
  try {
    for await (const row of rows) {
      line += 1;
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
      await replayOne(replay, row, line);
    }
  } finally {
    for (const { engine } of replays.values()) await engine.close();
  }
  return [...replays.values()].map(({ result }) => result);
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
  const names = Object.keys({ ...row.decision, ...replayed }) as (keyof Decision)[];
  const fields = names
    .filter((name) => !isDeepStrictEqual(row.decision[name], replayed[name]))
    .map((name) => ({ name, recorded: row.decision[name], replayed: replayed[name] }));
  if (fields.length === 0) return;
  if (result.differences.length < MAX_KEPT) {
    result.differences.push({ line, atMs: row.atMs, fields });
  } else result.moreDifferences += 1;
}

const asWritten = (decision: Decision): Decision =>
  JSON.parse(JSON.stringify(decision)) as Decision;
