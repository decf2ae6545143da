import { expect, test } from 'vitest';
import { checkSummary } from '#loadtest/results/check-summary.ts';
import { relate } from './occupancy-relation.ts';
import { verdictOf } from './qos-comparison.ts';
import { cellsOf } from './study-cells.ts';
import { summarizeVariability } from './summarize-variability.ts';
import { exampleStudy, exampleVariability } from './testing/example-study.ts';

const NAME = { seed: 1, name: 'x' };

test('summarizeVariability: matches the schema, as JSON too, and says the same each time', () => {
  const summary = checkSummary(summarizeVariability(exampleVariability()));
  expect(JSON.parse(JSON.stringify(summary))).toEqual(summary);
  expect(checkSummary(summarizeVariability(exampleVariability()))).toEqual(summary);
  expect(summary).toMatchObject({ kind: 'Variability', valid: true, problems: [] });
});

test('summarizeVariability with a ledger or without its part: not a summary of this kind', () => {
  const summary = summarizeVariability(exampleVariability());
  expect(() => checkSummary({ ...summary, ledger: {} })).toThrow('NOT be valid');
  expect(() => checkSummary({ ...summary, variability: undefined })).toThrow('variability');
});

test('the table: one row a class and demand, every figure inside its interval', () => {
  const { table } = summarizeVariability(exampleVariability()).variability;
  expect(table.map(({ qos, demandMs, n, executions }) => [qos, demandMs, n, executions])).toEqual([
    ['best-effort', 50, 120, 15],
    ['best-effort', 200, 60, 15],
    ['guaranteed', 50, 120, 15],
    ['guaranteed', 200, 60, 15],
  ]);
  for (const row of table) {
    for (const { value, low, high } of [row.meanMs, row.medianMs, row.p95Ms, row.cvPct]) {
      expect(low).toBeLessThanOrEqual(value ?? Number.NaN);
      expect(high).toBeGreaterThanOrEqual(value ?? Number.NaN);
    }
    // Nodes are 0 to 4 % slow: 2 % on average.
    expect(row.biasPct.value).toBeCloseTo(2, 0);
    expect(row.cpuBiasPct).toBe(0);
  }
});

test('the components: nodes that differ show as node, executions that differ as execution', () => {
  const noise = (): number => 0.002;
  const byNode = summarizeVariability(exampleVariability(exampleStudy(), { noise })).variability;
  expect(byNode.components.node.share).toBeGreaterThan(0.9);
  expect(byNode.components.reason).toBeNull();
  const byExecution = summarizeVariability(
    exampleVariability(exampleStudy(), { noise, shift: ({ execution }) => execution / 50 }),
  ).variability;
  expect(byExecution.components.execution.share).toBeGreaterThan(0.9);
  const [row] = byExecution.table;
  expect(row?.betweenCvPct).toBeGreaterThan(5 * (row?.withinCvPct ?? Number.NaN));
});

test('the components with one burst an iteration: null, with the reason', () => {
  const study = exampleStudy({ demands: [{ ms: 1_000, bursts: 1 }] });
  const { components } = summarizeVariability(exampleVariability(study)).variability;
  expect(components.cells[0]?.burst.variance).toBeNull();
  expect(components.cells[0]?.iteration.variance).not.toBeNull();
  expect(components.burst.variance).toBeNull();
  expect(components.reason).toContain('No cell');
});

test('occupancy: the busier, the more it varies', () => {
  const { occupancy } = summarizeVariability(exampleVariability()).variability;
  expect(occupancy.nodes.map(({ pods }) => pods)).toEqual([0, 1, 2, 3, 4]);
  expect(occupancy.pods.spearman.value).toBeGreaterThan(0.85);
  expect(occupancy.pods).toMatchObject({ exact: true, nodes: 5, reason: null });
  expect(occupancy.pods.smallestP).toBeCloseTo(2 / 120, 12);
  expect(occupancy.cells).toHaveLength(4);
});

test('occupancy with equally busy nodes: no correlation, and why', () => {
  const { nodes } = exampleStudy();
  const study = exampleStudy({ nodes: nodes.map((node) => ({ ...node, neighbours: 0 })) });
  const { occupancy } = summarizeVariability(exampleVariability(study)).variability;
  expect(occupancy.pods.spearman.value).toBeNull();
  expect(occupancy.pods.reason).toContain('--neighbours');
});

test('relate: nodes without a figure are left out, and two are too few', () => {
  expect(relate([1, 2, Number.NaN, 4], [1, 2, 3, 4], NAME).nodes).toBe(3);
  expect(relate([1, 2], [1, 2], NAME).reason).toContain('three');
  expect(relate([1, 2, 3], [5, 5, 5], NAME).reason).toContain('same on all');
});

test('the classes: equal within the margin, or different, by pairs', () => {
  const equal = summarizeVariability(exampleVariability()).variability.qos;
  expect(equal.demands.map(({ pairs, verdict }) => [pairs, verdict])).toEqual([
    [15, 'equivalent'],
    [15, 'equivalent'],
  ]);
  const shift = ({ qos }: { qos: string }): number => (qos === 'guaranteed' ? 0 : 0.2);
  const differ = summarizeVariability(exampleVariability(exampleStudy(), { shift })).variability
    .qos;
  expect(differ.demands[0]?.shiftPct.value).toBeCloseTo(-20, 0);
  expect(differ.demands[0]).toMatchObject({
    verdict: 'different',
    effect: 'large',
    cliffsDelta: -1,
  });
});

test.each([
  [{ low: -1, high: 1.9, level: 0.95 }, 'equivalent'],
  [{ low: 0.5, high: 1.5, level: 0.95 }, 'equivalent'],
  [{ low: 0.5, high: 2.5, level: 0.95 }, 'different'],
  [{ low: -3, high: -2.5, level: 0.95 }, 'different'],
  [{ low: -1, high: 2.5, level: 0.95 }, 'undecided'],
  [{ low: 5, high: 6, level: 0.75 }, 'undecided'],
  [{ low: Number.NaN, high: Number.NaN, level: 0 }, 'undecided'],
] as const)('verdictOf %j with a margin of 2: %s', (shift, verdict) => {
  expect(verdictOf(shift, 2)).toBe(verdict);
});

test('one class: no comparison, and why', () => {
  const study = exampleStudy({ qos: ['guaranteed'] });
  const { qos, detectable } = summarizeVariability(exampleVariability(study)).variability;
  expect(qos).toMatchObject({ demands: [], reason: 'only guaranteed was measured' });
  expect(detectable.qosShift).toEqual([]);
});

test('what could be detected: nothing from three nodes, little from five', () => {
  const five = summarizeVariability(exampleVariability()).variability.detectable;
  expect(five.correlation.critical).toBeCloseTo(0.878, 3);
  expect(five.correlation.smallestP).toBeCloseTo(2 / 120, 12);
  expect(five.correlation.nodesForHalf).toBe(29);
  expect(five.qosShift[0]?.detectablePct).toBeGreaterThan(0);
  expect(five.nodeSd[0]?.detectablePct).toBeGreaterThan(0);
  const study = exampleStudy({ nodes: exampleStudy().nodes.slice(0, 3) });
  const three = summarizeVariability(exampleVariability(study)).variability.detectable;
  expect(three.correlation).toMatchObject({ detectable: null, powerAtHalf: null });
  expect(three.correlation.smallestP).toBeCloseTo(1 / 3, 12);
});

test('an interrupted study: what is complete, and that it is not all', () => {
  const whole = exampleVariability();
  const executions = whole.executions.slice(0, 13);
  const keys = new Set(executions.map(({ node, qos, execution }) => `${node} ${qos} ${execution}`));
  const bursts = whole.bursts.filter((row) => keys.has(`${row.node} ${row.qos} ${row.execution}`));
  const run = { ...whole.run, interrupted: true };
  const summary = checkSummary(summarizeVariability({ ...whole, run, executions, bursts }));
  expect(summary.valid).toBe(false);
  expect(summary.problems).toEqual(['Interrupted: 13 of 30 executions are complete']);
  expect(summary.variability.executions).toEqual({ planned: 30, complete: 13 });
});

test('a single execution: figures where there are any, null elsewhere, and a valid document', () => {
  const whole = exampleVariability();
  const executions = whole.executions.slice(0, 1);
  const [first] = executions;
  const bursts = whole.bursts.filter(
    ({ node, qos, execution }) =>
      node === first?.node && qos === first.qos && execution === first.execution,
  );
  const summary = checkSummary(summarizeVariability({ ...whole, executions, bursts }));
  expect(summary.problems).toEqual(['29 executions are missing']);
  expect(summary.variability.table[0]?.meanMs.value).toBeGreaterThan(0);
  expect(summary.variability.table[0]?.meanMs.low).toBeNull();
  expect(summary.variability.components.node.variance).toBeNull();
});

test('cellsOf: classes and demands in the order of the study, none without bursts', () => {
  const { config, bursts } = exampleVariability();
  const some = bursts.filter(({ demandMs }) => demandMs === 50);
  expect(cellsOf(config.study, some).map(({ qos, demandMs }) => [qos, demandMs])).toEqual([
    ['best-effort', 50],
    ['guaranteed', 50],
  ]);
});
