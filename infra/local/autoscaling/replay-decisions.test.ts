import { expect, test } from 'vitest';
import type { Observation, Policy } from '#infra/autoscaling/policy.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';
import { BuiltInEngine } from './policy-engine.ts';
import { replayDecisions } from './replay-decisions.ts';

/** Counts its decisions, so that a replay that loses or repeats one shows. */
const counting: Policy<{ add: number }, number> = {
  name: 'counting',
  pokes: false,
  periodMs: () => 1_000,
  start: (_, { ready }) => ready,
  decide: ({ add }, state) => ({
    state: state + add,
    decision: {
      desired: state + add,
      wanted: state + add,
      reason: 'counts',
      limits: [],
      details: {},
      panicking: false,
      path: null,
      againAtMs: null,
    },
  }),
};

const observation: Observation = { stats: [], ready: 0, replicas: 0, pods: [], lag: null };

async function recorded(): Promise<DecisionRow[]> {
  const engine = new BuiltInEngine(counting, { add: 2 });
  engine.start({ nowMs: 0, ready: 1 });
  const rows: DecisionRow[] = [
    {
      kind: 'policy',
      atMs: 0,
      service: 's',
      policy: 'counting',
      module: null,
      periodMs: 1_000,
      config: { add: 2 },
      ready: 1,
    },
  ];
  for (const atMs of [1_000, 2_000, 3_000]) {
    const decision = await engine.decide(observation, atMs);
    rows.push({ kind: 'decision', atMs, service: 's', observation, decision });
  }
  return rows;
}

const open = (row: { readonly config: unknown }) =>
  new BuiltInEngine(counting, row.config as { add: number });

async function* each<T>(rows: readonly T[]): AsyncGenerator<T> {
  for (const row of rows) yield await Promise.resolve(row);
}

test('a record fed to its policy again gives the same decisions', async () => {
  await expect(replayDecisions(each(await recorded()), open)).resolves.toEqual([
    { service: 's', policy: 'counting', decisions: 3, differences: [], moreDifferences: 0 },
  ]);
});

test('a decision that differs is named with its line and both values', async () => {
  const rows = await recorded();
  const third = rows[2] as Extract<DecisionRow, { kind: 'decision' }>;
  rows[2] = { ...third, decision: { ...third.decision, desired: 9 } };
  const [result] = await replayDecisions(each(rows), open);
  expect(result?.differences).toEqual([
    { line: 3, atMs: 2_000, fields: [{ name: 'desired', recorded: 9, replayed: 5 }] },
  ]);
});

test('differences beyond twenty are counted', async () => {
  const rows = await recorded();
  const row = rows[1] as Extract<DecisionRow, { kind: 'decision' }>;
  const wrong = { ...row, decision: { ...row.decision, reason: 'other' } };
  const many = [rows[0] as DecisionRow, ...Array.from({ length: 25 }, () => wrong)];
  const [result] = await replayDecisions(each(many), open);
  expect(result?.differences).toHaveLength(20);
  expect(result?.moreDifferences).toBe(5);
});

test('a decision without a policy before it is refused', async () => {
  const rows = await recorded();
  await expect(replayDecisions(each(rows.slice(1)), open)).rejects.toThrow(
    'line 1 is a decision for s without its policy before it',
  );
});

test('a decision that a policy failed to give is not compared', async () => {
  const rows = await recorded();
  const third = rows[2] as Extract<DecisionRow, { kind: 'decision' }>;
  const failed = { ...third.decision, desired: null, details: { failed: true } };
  const replayed = [rows[0], rows[1], { ...third, decision: failed }] as DecisionRow[];
  const [result] = await replayDecisions(each(replayed), open);
  expect(result?.differences).toEqual([]);
});
