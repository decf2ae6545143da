import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TachographError } from '#kernel/core/errors.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { ARRIVAL_PROCESSES, type Arrivals } from '#loadtest/arrivals/arrival-times.ts';
import { runLoad } from '#loadtest/experiments/run-load.ts';
import { runningPipeline } from '#loadtest/experiments/running-pipeline.ts';
import { durationOption } from './duration-option.ts';
import { readLocalState } from './local-state.ts';
import { MAX_SEED, numberOption } from './number-option.ts';
import { progressEveryMs, progressLine, tellRun } from './tell-run.ts';
import type { Verb, VerbContext } from './verb.ts';

const DEFAULTS = { rate: 20, duration: '30s', vehicles: 20, seed: 1 } as const;
const MAX_RATE = 10_000;
const MAX_VEHICLES = 1_000;
const DURATION = { minMs: 100, maxMs: 86_400_000 } as const;
const PROFILE = 'emulated';

/** `tachograph drive`. */
export const driveVerb: Verb = {
  name: 'drive',
  summary: 'sends a load to the running pipeline and checks that all of it comes out',
  details: [
    'Needs a pipeline ("tachograph up", with --demand for stages that shall consume CPU time). Sends',
    'emulated batches (no frames, one window each) at their intended times, whatever the answers, waits',
    'until all of them have come out, and writes a result folder with a report. The pipeline stays.',
    'Exit code 0 only when the ledger balances, no data is missing and the load was the asked one.',
  ],
  options: {
    profile: { kind: 'text', value: 'NAME', about: 'what is sent: emulated (default)' },
    rate: { kind: 'text', value: 'N', about: 'batches a second, of all vehicles (default: 20)' },
    duration: { kind: 'text', value: 'TIME', about: 'such as 30s, 5min (default: 30s)' },
    vehicles: { kind: 'text', value: 'N', about: `1 to ${MAX_VEHICLES} (default: 20)` },
    arrivals: { kind: 'text', value: 'KIND', about: 'constant (default) or poisson' },
    seed: { kind: 'text', value: 'N', about: 'of the arrivals (default: 1)' },
  },
  async run(context) {
    const load = loadOptions(context);
    const { root, signal, terminal } = context;
    const result = await runLoad({
      ...load,
      root,
      results: join(root, 'results'),
      pipeline: runningPipeline(await address(context)),
      env: process.env,
      clock: systemClock,
      signal,
      onNote: (line) => terminal.note(line),
      onProgress: (progress) => terminal.progress(progressLine(progress)),
      progressEveryMs: progressEveryMs(),
    });
    tellRun(result, context);
    return result.summary.valid ? 0 : 1;
  },
};

function loadOptions(context: VerbContext): {
  readonly vehicles: number;
  readonly arrivals: Arrivals;
  readonly durationMs: number;
  readonly seed: number;
} {
  choice('profile', context.option('profile') ?? PROFILE, [PROFILE]);
  const whole = { min: 1, max: MAX_VEHICLES, integer: true };
  const rates = { min: 0.001, max: MAX_RATE, integer: false };
  const ratePerS = numberOption('rate', context.option('rate'), DEFAULTS.rate, rates);
  const kind = choice('arrivals', context.option('arrivals') ?? 'constant', ARRIVAL_PROCESSES);
  const seeds = { min: 0, max: MAX_SEED, integer: true };
  return {
    vehicles: numberOption('vehicles', context.option('vehicles'), DEFAULTS.vehicles, whole),
    arrivals: { kind, ratePerS },
    durationMs: durationOption(
      'duration',
      context.option('duration') ?? DEFAULTS.duration,
      DURATION,
    ),
    seed: numberOption('seed', context.option('seed'), DEFAULTS.seed, seeds),
  };
}

function choice<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((candidate) => candidate === text);
  if (found !== undefined) return found;
  const remedy = `use ${choices.join(' or ')}`;
  throw new TachographError('CONFIG_INVALID', { name: `--${name}`, value: text, remedy });
}

async function address({ home }: VerbContext): Promise<Parameters<typeof runningPipeline>[0]> {
  const state = await readLocalState(home);
  if (state === undefined) throw new TachographError('PIPELINE_NOT_RUNNING');
  const { gatewayUrl, brokerUrl, storeUrl, tokenFile, spansUrl, spansDir } = state;
  const engineerToken = (await readFile(tokenFile, 'utf8')).trim();
  const traces = spansUrl === null ? {} : { traces: { url: spansUrl, dir: spansDir } };
  return { gatewayUrl, brokerUrl, storeUrl, engineerToken, ...traces };
}
