import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import process from 'node:process';
import { isAlive } from '#infra/local/replicas/is-alive.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { durationText } from '#loadtest/report/number-text.ts';
import { parseStudy } from '#loadtest/variability/parse-study.ts';
import { renderJobs } from '#loadtest/variability/render-jobs.ts';
import { runVariability, type VariabilityResult } from '#loadtest/variability/run-variability.ts';
import type { StudyProgress } from '#loadtest/variability/run-study.ts';
import { burstCount, executionCount, type Study } from '#loadtest/variability/study.ts';
import { estimateMs } from '#loadtest/variability/study-order.ts';
import type { VariabilitySummary } from '#loadtest/variability/variability-summary.ts';
import type { Verb, VerbContext } from './verb.ts';

const DEFAULT_IMAGE = 'dev.local/tachograph-variability:dev';
const NAMESPACE = 'tachograph';

/** `tachograph variability`. */
export const variabilityVerb: Verb = {
  name: 'variability',
  summary: 'measures how much emulated CPU demands vary, over nodes and qualities of service',
  details: [
    'Each execution is a fresh process that calibrates and burns, in randomised interleaved order. Locally',
    'a node is a group of processes with CPU quota and weight (cgroup v1 or v2) where the machine permits,',
    'else a name, and the report says so. Ctrl-C stops everything and reports what is complete.',
    'The defaults take about two minutes. The published study: --nodes 7 --executions 5 --iterations 5.',
  ],
  options: {
    nodes: { kind: 'text', value: 'N|NAMES', about: 'number, or names (default: 5)' },
    qos: { kind: 'text', value: 'CLASSES', about: 'default: best-effort,guaranteed' },
    demands: { kind: 'text', value: 'TIMES', about: 'default: 50ms,200ms,1000ms' },
    executions: { kind: 'text', value: 'N', about: 'of each node and class (default: 3)' },
    iterations: { kind: 'text', value: 'N', about: 'of each execution (default: 2)' },
    bursts: {
      kind: 'text',
      value: 'N[,N…]',
      about: 'of each iteration, for all demands or each (default: what fits 400 ms, 1 to 4)',
    },
    neighbours: {
      kind: 'text',
      value: 'N',
      about: 'busy neighbours (150 millicores each) of the last node; 0 on the first (default: 0)',
    },
    kind: { kind: 'text', value: 'KIND', about: 'work or cpuTime (default: work)' },
    rate: {
      kind: 'text',
      value: 'RATE',
      about: 'of work: reference or local (default: reference)',
    },
    'node-cpus': { kind: 'text', value: 'X', about: 'CPUs a local node has (default: 1)' },
    limit: {
      kind: 'text',
      value: 'X',
      about: 'CPUs of the guaranteed class, requests = limits (default: all of the node)',
    },
    seed: { kind: 'text', value: 'N', about: 'of order and resampling (default: 1)' },
    'no-cgroups': { kind: 'flag', about: 'nodes are names only' },
    'render-jobs': {
      kind: 'text',
      value: 'FOLDER',
      about: 'write one Kubernetes Job a node and class instead of running; needs --nodes NAMES',
    },
    image: { kind: 'text', value: 'IMAGE', about: `of the Jobs (default: ${DEFAULT_IMAGE})` },
  },
  async run(context) {
    const { terminal, root, signal } = context;
    const study = studyOf(context);
    const folder = context.option('render-jobs');
    if (folder !== undefined) return render(study, resolve(folder), context);
    checkMachine(study);
    terminal.note(
      `${executionCount(study)} executions with ${burstCount(study)} bursts: about ` +
        `${durationText(estimateMs(study))} on an idle machine`,
    );
    const result = await runVariability({
      study,
      name: 'variability',
      root,
      results: join(root, 'results'),
      clock: systemClock,
      signal,
      machine: {
        pid: process.pid,
        platform: process.platform,
        useCgroups: !context.flag('no-cgroups'),
        isAlive,
      },
      onNote: (line) => terminal.note(line),
      onProgress: (progress) => terminal.progress(progressLine(progress, study)),
    });
    tell(result, context);
    return result.summary.valid ? 0 : 1;
  },
};

const studyOf = (context: VerbContext): Study =>
  parseStudy({
    nodes: context.option('nodes'),
    nodeCpus: context.option('node-cpus'),
    neighbours: context.option('neighbours'),
    qos: context.option('qos'),
    demands: context.option('demands'),
    executions: context.option('executions'),
    iterations: context.option('iterations'),
    bursts: context.option('bursts'),
    kind: context.option('kind'),
    rate: context.option('rate'),
    limit: context.option('limit'),
    seed: context.option('seed'),
  });

/** A quota beyond what the machine has would hold nobody. */
function checkMachine({ nodes }: Study): void {
  const cpus = availableParallelism();
  const millicores = Math.max(...nodes.map((node) => node.millicores));
  if (millicores <= cpus * 1_000) return;
  const value = String(millicores / 1_000);
  const remedy = `use at most ${cpus}, which this machine has`;
  throw new TachographError('CONFIG_INVALID', { name: '--node-cpus', value, remedy });
}

async function render(study: Study, folder: string, context: VerbContext): Promise<number> {
  const { terminal } = context;
  const given = context.option('nodes');
  if (given === undefined || /^\d+$/.test(given)) {
    const remedy = 'name the nodes of the cluster, such as worker-1,worker-2 (kubectl get nodes)';
    throw new TachographError('CONFIG_INVALID', { name: '--nodes', value: given ?? '', remedy });
  }
  const jobs = renderJobs(study, {
    image: context.option('image') ?? DEFAULT_IMAGE,
    namespace: NAMESPACE,
  });
  await mkdir(folder, { recursive: true });
  for (const { file, yaml } of jobs) await writeFile(join(folder, file), yaml);
  terminal.document({ folder, files: jobs.map(({ file }) => file) });
  for (const { file } of jobs) terminal.print(join(folder, file));
  return 0;
}

/** `12/30 node-3 guaranteed, 41.2 s, about 1.2 min left` */
function progressLine({ done, all, cell, elapsedMs }: StudyProgress, study: Study): string {
  const leftMs = done === 0 ? estimateMs(study) : (elapsedMs / done) * (all - done);
  return (
    `${done}/${all} ${cell.node} ${cell.qos}, ${durationText(elapsedMs)}, ` +
    `about ${durationText(leftMs)} left`
  );
}

/** The short table and where everything is. */
function tell({ folder, summary }: VariabilityResult, context: VerbContext): void {
  const { terminal, root } = context;
  terminal.document(summary);
  terminal.print('');
  for (const line of tableLines(summary)) terminal.print(line);
  const { enforcement, components } = summary.variability;
  const shares = (['node', 'execution', 'iteration', 'burst'] as const).map(
    (level) => `${level} ${percentText(components[level].share)}`,
  );
  terminal.print('');
  terminal.print(`variance   ${shares.join(', ')}`);
  if (!enforcement.enforced) terminal.print(`NOT ENFORCED: ${enforcement.detail}`);
  for (const problem of summary.problems) {
    terminal.print(terminal.colour('red', `problem    ${problem}`));
  }
  terminal.print(`report     ${join(relative(root, folder), 'report.html')}`);
}

function tableLines({ variability }: VariabilitySummary): readonly string[] {
  const heads = ['class', 'demand', 'n', 'mean', 'median', 'p95', 'SD', 'CV %', 'bias %'];
  const digits = (value: number | null): string => (value === null ? '–' : value.toFixed(2));
  const rows = variability.table.map((row) => [
    row.qos,
    `${row.demandMs} ms`,
    String(row.n),
    ...[row.meanMs, row.medianMs, row.p95Ms, row.sdMs, row.cvPct, row.biasPct].map(({ value }) =>
      digits(value),
    ),
  ]);
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [heads, ...rows].map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}

const percentText = (share: number | null): string =>
  share === null ? '–' : `${(share * 100).toFixed(0)} %`;
