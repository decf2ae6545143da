import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { systemClock } from '#kernel/system/system-clock.ts';
import { runDemo } from '#loadtest/experiments/run-demo.ts';
import { MAX_SEED, numberOption, type NumberRange } from './number-option.ts';
import { progressEveryMs, progressLine, tellRun } from './tell-run.ts';
import { DEFAULT_OVERLAY } from './up-verb.ts';
import type { Verb } from './verb.ts';

const DEFAULTS = { vehicles: 3, speed: 5, seed: 1 } as const;
const MAX_VEHICLES = 100;
const MAX_SPEED = 1_000;

/** `tachograph demo`, which is `make demo`. */
export const demoVerb: Verb = {
  name: 'demo',
  summary: 'replays a recorded drive through the whole pipeline and checks the account',
  details: [
    'Starts the pipeline from the Knative YAML, lets vehicles replay the drive, waits until all that',
    'was sent has come out, stops everything and writes a result folder with a report.',
    'Exit code 0 only when the ledger balances and no data is missing.',
  ],
  options: {
    vehicles: { kind: 'text', value: 'N', about: `1 to ${MAX_VEHICLES} (default: 3)` },
    speed: { kind: 'text', value: 'X', about: `times real time, up to ${MAX_SPEED} (default: 5)` },
    seed: { kind: 'text', value: 'N', about: 'of vehicles, sessions and phases (default: 1)' },
    drive: { kind: 'text', value: 'FILE', about: 'candump log (default: the recorded minute)' },
    campaign: { kind: 'text', value: 'FILE', about: 'default: examples/campaigns/demo.yaml' },
    'keep-store': { kind: 'flag', about: 'keep store and streams in the result folder' },
  },
  async run(context) {
    const number = (name: keyof typeof DEFAULTS, range: NumberRange): number =>
      numberOption(name, context.option(name), DEFAULTS[name], range);
    const numbers = {
      vehicles: number('vehicles', { min: 1, max: MAX_VEHICLES, integer: true }),
      speed: number('speed', { min: 0.001, max: MAX_SPEED, integer: false }),
      seed: number('seed', { min: 0, max: MAX_SEED, integer: true }),
    };
    const { root, env, signal, terminal } = context;
    const result = await runDemo({
      ...numbers,
      root,
      results: join(root, 'results'),
      overlay: DEFAULT_OVERLAY,
      drivePath: resolve(
        context.option('drive') ?? join(root, 'examples/drive/drive-60s.candump.gz'),
      ),
      campaignPath: resolve(
        context.option('campaign') ?? join(root, 'examples/campaigns/demo.yaml'),
      ),
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
