import { assert } from '#kernel/core/assert.ts';

/** One measured value and the groups it lies in, from the widest to the narrowest. */
export interface NestedRow {
  readonly groups: readonly string[];
  readonly value: number;
}

export interface VarianceComponent {
  /** Unbiased; may be negative where the true component is near 0. NaN: the design cannot tell. */
  readonly variance: number;
  /** Groups of this level less groups of the level above: 0 when it cannot be told from the next. */
  readonly degreesOfFreedom: number;
  /** Mean square of the level; NaN without degrees of freedom. */
  readonly meanSquare: number;
}

/**
 * Variance components of a nested design by the method of moments (analysis of variance, each level's
 * sum of squares set equal to its expectation), balanced or not. `levels` group columns, widest first,
 * give `levels + 1` components, the last one within the narrowest group.
 *
 * Source: S. R. Searle, G. Casella, C. E. McCulloch, "Variance Components", 1992, 5.3 (Henderson's
 * method 1). With U_j the sum over groups g of level j of (sum of values)² / n_g, the expectation of
 * U_j − U_{j−1} is Σ_{i ≥ j} (c(j, i) − c(j−1, i)) σ²_i, where c(j, i) sums, over groups g of level j,
 * n_h² / n_g of the level-i groups h within g. The system is triangular and solved from the bottom.
 *
 * A level without degrees of freedom (one iteration an execution) is NaN; what it contributes is part
 * of the level above, which is named here so that nobody reads it as 0.
 */
export function varianceComponents(
  rows: readonly NestedRow[],
  levels: number,
): readonly VarianceComponent[] {
  assert(
    rows.every(({ groups }) => groups.length === levels),
    'every row names all its groups',
  );
  const sizes = nestedSizes(rows, levels);
  const depth = levels + 1;
  const components: VarianceComponent[] = [];
  let solved = Array.from({ length: depth }, () => 0);
  for (let level = depth; level >= 1; level--) {
    const degreesOfFreedom = groupCount(sizes, level) - groupCount(sizes, level - 1);
    if (degreesOfFreedom === 0) {
      components.unshift({ variance: Number.NaN, degreesOfFreedom, meanSquare: Number.NaN });
      continue;
    }
    const sum = groupSquares(sizes, level) - groupSquares(sizes, level - 1);
    const weight = (of: number): number => share(sizes, level, of) - share(sizes, level - 1, of);
    let rest = sum;
    for (let below = level + 1; below <= depth; below++) {
      rest -= weight(below) * (solved[below - 1] ?? 0);
    }
    const variance = rest / weight(level);
    solved = solved.with(level - 1, variance);
    components.unshift({ variance, degreesOfFreedom, meanSquare: sum / degreesOfFreedom });
  }
  return components;
}

interface Group {
  readonly index: number;
  readonly count: number;
  readonly sum: number;
  /** Keys of the groups around it, level 0 (everything) first, itself last. */
  readonly path: readonly string[];
}

/** Groups by level: level 0 is everything, the last level the single rows. */
type NestedSizes = readonly ReadonlyMap<string, Group>[];

function nestedSizes(rows: readonly NestedRow[], levels: number): NestedSizes {
  const centre = rows.reduce((sum, { value }) => sum + value, 0) / rows.length;
  const maps = Array.from({ length: levels + 2 }, () => new Map<string, Group>());
  for (const [row, { groups, value }] of rows.entries()) {
    const path: string[] = [];
    let parent = 0;
    for (const [level, map] of maps.entries()) {
      const key = level === 0 ? '' : `${parent}/${groups[level - 1] ?? row}`;
      path.push(key);
      const known = map.get(key) ?? { index: map.size, count: 0, sum: 0, path: [...path] };
      // Around the mean, so that squares of nearly equal values keep their digits.
      map.set(key, { ...known, count: known.count + 1, sum: known.sum + value - centre });
      parent = known.index;
    }
  }
  return maps;
}

const groupCount = (sizes: NestedSizes, level: number): number => sizes[level]?.size ?? 0;

const groupSquares = (sizes: NestedSizes, level: number): number =>
  [...(sizes[level]?.values() ?? [])].reduce(
    (total, { sum, count }) => total + sum ** 2 / count,
    0,
  );

/** c(level, of): level 0 counts everything as one group. */
function share(sizes: NestedSizes, level: number, of: number): number {
  let total = 0;
  for (const group of sizes[of]?.values() ?? []) {
    const around = sizes[level]?.get(group.path[level] ?? '');
    if (around !== undefined) total += group.count ** 2 / around.count;
  }
  return total;
}
