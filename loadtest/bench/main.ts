import { unreachable } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { BenchRow } from './bench-row.ts';

/** The benchmarks by name, in the order in which they run. */
export const BENCHES = [
  'decode',
  'wire',
  'samples',
  'broker',
  'data-path',
  'rest',
  'cold-start',
  'tracing',
  'autoscaler',
] as const;

export type BenchName = (typeof BENCHES)[number];

export interface BenchTable {
  readonly bench: BenchName;
  readonly rows: readonly BenchRow[];
}

export interface BenchOptions {
  /** The repository: benchmarks read the recorded drive from it. */
  readonly root: string;
  readonly clock: Clock;
  readonly benches: readonly BenchName[];
  /**
   * The nats-server to start for `broker`, `data-path` and `autoscaler`; asked for only then. Throws
   * NATS_NOT_FOUND.
   */
  readonly natsBinary: () => Promise<string>;
  readonly signal: AbortSignal;
  readonly onNote: (line: string) => void;
}

/** Runs benchmarks one after the other: side by side they would measure each other. */
export async function runBenches(options: BenchOptions): Promise<readonly BenchTable[]> {
  const tables: BenchTable[] = [];
  for (const bench of options.benches) {
    options.signal.throwIfAborted();
    options.onNote(`Running ${bench}`);
    tables.push({ bench, rows: await runBench(bench, options) });
  }
  return tables;
}

/** Imported when it runs: one benchmark's libraries must not weigh on another's start. */
async function runBench(
  bench: BenchName,
  { clock, root, natsBinary }: BenchOptions,
): Promise<readonly BenchRow[]> {
  switch (bench) {
    case 'decode':
      return (await import('./decode-bench.ts')).decodeBench(clock, root);
    case 'wire':
      return (await import('./wire-bench.ts')).wireBench(clock, root);
    case 'samples':
      return (await import('./samples-bench.ts')).samplesBench(clock, root);
    case 'broker':
      return (await import('./broker-bench.ts')).brokerBench(clock, await natsBinary());
    case 'data-path':
      return (await import('./data-path-bench.ts')).dataPathBench(clock, await natsBinary());
    case 'rest':
      return (await import('./rest-bench.ts')).restBench(clock);
    case 'cold-start':
      return (await import('./cold-start-bench.ts')).coldStartBench(clock, root);
    case 'tracing':
      return (await import('./tracing-bench.ts')).tracingBench(clock, root);
    case 'autoscaler':
      return (await import('./recorded-bench.ts')).recordedBench(clock, root, await natsBinary());
    default:
      return unreachable(bench);
  }
}

/** `decode,wire` → the benchmarks; undefined: all. Throws CONFIG_INVALID. */
export function benchNames(text: string | undefined): readonly BenchName[] {
  if (text === undefined) return BENCHES;
  return text.split(',').map((name) => {
    const known = BENCHES.find((bench) => bench === name.trim());
    if (known !== undefined) return known;
    const remedy = `name some of ${BENCHES.join(', ')}, with commas between`;
    throw new TachographError('CONFIG_INVALID', { name: '--only', value: text, remedy });
  });
}

/** No row misses its target. */
export const allMet = (tables: readonly BenchTable[]): boolean =>
  tables.every(({ rows }) => rows.every(({ met }) => met !== false));

/** One line a row: name, value with unit, target with yes or no. */
export function benchLines(rows: readonly BenchRow[]): readonly string[] {
  const cells = rows.map(({ name, value, unit, target, met }) => [
    name,
    valueText(value),
    unit,
    target === undefined ? '' : `${target}: ${met === true ? 'met' : 'NOT MET'}`,
  ]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(0, ...cells.map((row) => (row[column] ?? '').length)),
  );
  return cells.map(([name = '', value = '', unit = '', target = '']) =>
    [
      name.padEnd(widths[0] ?? 0),
      value.padStart(widths[1] ?? 0),
      unit.padEnd(widths[2] ?? 0),
      target,
    ]
      .join('  ')
      .trimEnd(),
  );
}

/** Whole numbers from 1,000 on with separators, below that three significant digits. */
const valueText = (value: number): string =>
  Math.abs(value) >= 1_000
    ? Math.round(value).toLocaleString('en-GB')
    : String(Number(value.toPrecision(3)));
