import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { TachographError } from '#kernel/core/errors.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { MAX_EXPERIMENT_SEED, type Experiment } from '#loadtest/experiments/experiment.ts';
import {
  choosePolicy,
  readExperiment,
  unknownPolicy,
  withPolicy,
} from '#loadtest/experiments/read-experiment.ts';
import { runExperiment } from '#loadtest/experiments/run-experiment.ts';
import { numberOption } from './number-option.ts';
import { progressEveryMs, progressLine, tellRun } from './tell-run.ts';
import type { Verb, VerbContext } from './verb.ts';

/** `tachograph run FILE`, which is `make run EXPERIMENT=FILE`. */
export const runVerb: Verb = {
  name: 'run',
  summary: 'runs an experiment on a pipeline of its own and shows how it was scaled',
  details: [
    'FILE is YAML (docs/experiments.md); loadtest/experiments/ has examples. Starts the pipeline with what',
    'the experiment changes, waits until it is at rest, sends the load at its intended times, waits until',
    'all has come out and the stages are at rest again, stops everything and writes a result folder.',
    'The same seed gives the same arrivals whatever the policy. Exit code 0 only when the ledger',
    'balances, no data is missing and the load was the asked one.',
  ],
  options: {
    policy: {
      kind: 'text',
      value: 'NAME',
      about: 'kpa, hpa, keda, node, fixed, schedule, or the path of your own; default: as in FILE',
    },
    seed: { kind: 'text', value: 'N', about: 'of arrivals and demands; default: as in FILE' },
    'keep-store': { kind: 'flag', about: 'keep store and streams in the result folder' },
  },
  operands: { text: 'FILE', max: 1 },
  async run(context) {
    const { root, env, signal, terminal } = context;
    const experiment = await experimentOf(context);
    const result = await runExperiment({
      experiment,
      root,
      results: join(root, 'results'),
      keepStore: context.flag('keep-store'),
      env,
      platform: { name: process.platform, architecture: process.arch },
      clock: systemClock,
      randomBytes,
      signal,
      onNote: (line) => terminal.note(line),
      onProgress: (progress) => terminal.progress(progressLine(progress)),
      progressEveryMs: progressEveryMs(),
    });
    tellRun(result, context);
    return result.summary.valid ? 0 : 1;
  },
};

async function experimentOf(context: VerbContext): Promise<Experiment> {
  const [file] = context.operands;
  if (file === undefined) {
    const remedy = 'name an experiment, such as loadtest/experiments/step.yaml';
    throw new TachographError('CONFIG_INVALID', { name: 'FILE', value: '', remedy });
  }
  const path = resolve(file);
  const shown = relative(context.root, path).startsWith('..') ? path : relative(context.root, path);
  const read = readExperiment(await textOf(path, shown), shown);
  const seeds = { min: 0, max: MAX_EXPERIMENT_SEED, integer: true };
  const seed = numberOption('seed', context.option('seed'), read.seed, seeds);
  const text = context.option('policy');
  if (text === undefined) return { ...read, seed };
  const policy = choosePolicy(isAbsolute(text) ? relative(context.root, text) : text);
  if (policy !== undefined) return withPolicy({ ...read, seed }, policy);
  const remedy = unknownPolicy(text);
  throw new TachographError('CONFIG_INVALID', { name: '--policy', value: text, remedy });
}

async function textOf(path: string, shown: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const detail = code === 'ENOENT' ? 'there is no such file' : code;
    throw new TachographError('EXPERIMENT_INVALID', { at: shown, detail }, { cause: error });
  }
}
