import { randomStream } from '#kernel/core/random.ts';
import { clusterBootstrap } from '#loadtest/statistics/bootstrap.ts';
import { pearson, ranks, spearman } from '#loadtest/statistics/correlation.ts';
import { permutationTest } from '#loadtest/statistics/permutation-test.ts';
import { coefficientOfVariation, mean } from '#loadtest/statistics/sample.ts';
import { known, type StudyCell } from './study-cells.ts';
import type { ExecutionRow } from './study-rows.ts';
import type { Study } from './study.ts';
import type { NodeOccupancy, OccupancyResult, Relation } from './variability-summary.ts';

type Measure = 'pods' | 'millicores';

/** Whether busier nodes vary more: CV of each node against how busy it was without the probe. */
export function occupancyRelation(
  study: Study,
  cells: readonly StudyCell[],
  executions: readonly ExecutionRow[],
): OccupancyResult {
  const busy = study.nodes.map(({ name }) => busyness(name, executions));
  const cvs = cells.map((cell) => study.nodes.map(({ name }) => nodeCvPct(cell, name)));
  const headline = study.nodes.map((_, index) =>
    mean(cvs.map((own) => own[index] ?? Number.NaN).filter((cv) => !Number.isNaN(cv))),
  );
  const relation = (measure: Measure, values: readonly number[], name: string): Relation =>
    relate(
      busy.map((node) => node[measure] ?? Number.NaN),
      values,
      { seed: study.seed, name: `${measure} ${name}` },
    );
  return {
    pods: relation('pods', headline, 'all'),
    millicores: relation('millicores', headline, 'all'),
    nodes: study.nodes.map(({ name }, index) => ({
      node: name,
      ...(busy[index] ?? { pods: null, millicores: null, machineMillicores: null }),
      cvPct: known(headline[index] ?? Number.NaN),
    })),
    cells: cells.map(({ qos, demandMs }, index) => ({
      qos,
      demandMs,
      pods: relation('pods', cvs[index] ?? [], `${qos} ${demandMs}`),
      millicores: relation('millicores', cvs[index] ?? [], `${qos} ${demandMs}`),
    })),
  };
}

type Busyness = Pick<NodeOccupancy, 'pods' | 'millicores' | 'machineMillicores'>;

function busyness(node: string, executions: readonly ExecutionRow[]): Busyness {
  const looks = executions.filter((row) => row.node === node).map(({ occupancy }) => occupancy);
  const over = (of: (look: (typeof looks)[number]) => number | null): number | null =>
    known(mean(looks.map((look) => of(look) ?? Number.NaN)));
  return {
    pods: over(({ pods }) => pods),
    millicores: over(({ millicores }) => millicores),
    machineMillicores: over(({ machineMillicores }) => machineMillicores),
  };
}

const nodeCvPct = ({ rows }: StudyCell, node: string): number =>
  100 * coefficientOfVariation(rows.filter((row) => row.node === node).map(({ wallMs }) => wallMs));

const LEVEL = 0.95;

/** Nodes without a figure are left out, and there are three at least. */
export function relate(
  xs: readonly number[],
  ys: readonly number[],
  { seed, name }: { readonly seed: number; readonly name: string },
): Relation {
  const pairs = xs.flatMap((x, index) => {
    const y = ys[index] ?? Number.NaN;
    return Number.isFinite(x) && Number.isFinite(y) ? [[x, y] as const] : [];
  });
  const [left, right] = [pairs.map(([x]) => x), pairs.map(([, y]) => y)];
  const random = randomStream(seed, `relation ${name}`);
  const test = permutationTest(ranks(left), ranks(right), random);
  const reason = reasonWithout(left, right);
  const { estimate, low, high } = clusterBootstrap(
    pairs.map((pair) => [pair]),
    (drawn) =>
      spearman(
        drawn.map(([x]) => x),
        drawn.map(([, y]) => y),
      ),
    { random, method: 'percentile', level: LEVEL },
  );
  const given = reason === null;
  const none = { value: null, low: null, high: null };
  return {
    spearman: given ? { value: known(estimate), low: known(low), high: known(high) } : none,
    pValue: given ? known(test.pValue) : null,
    exact: test.exact,
    smallestP: given ? known(test.smallestP) : null,
    pearson: given ? known(pearson(left, right)) : null,
    pearsonP: given ? known(permutationTest(left, right, random).pValue) : null,
    nodes: pairs.length,
    reason,
  };
}

function reasonWithout(left: readonly number[], right: readonly number[]): string | null {
  if (left.length < 3) return 'fewer than three nodes have both figures';
  if (new Set(left).size === 1) {
    return 'all nodes were equally busy; give them different neighbours (--neighbours)';
  }
  return new Set(right).size === 1 ? 'the CV is the same on all nodes' : null;
}
