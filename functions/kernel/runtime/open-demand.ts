import { readFileSync } from 'node:fs';
import { readLocalStepsPerMs } from '../calibration/calibration-file.ts';
import { machineKey } from '../calibration/machine-key.ts';
import type { StageConfig } from '../config/stage-config.ts';
import { TachographError } from '../core/errors.ts';
import { randomStream } from '../core/random.ts';
import { createDemandRunner } from '../demand/demand-runner.ts';
import type { Demand } from '../demand/demand.ts';
import { formatDemand } from '../demand/format-demand.ts';
import { parseDemands } from '../demand/parse-demand.ts';
import { createKernel } from '../demand/wasm-kernel.ts';
import { StageDemand } from './stage-demand.ts';
import type { StageContext, StageDefinition } from './stage.ts';

type DemandConfig = Pick<
  StageConfig,
  'demand' | 'demandPlacement' | 'demandSeed' | 'demandCalibration'
>;

/** Bursts that may wait for a free worker; what comes beyond is told to come back. */
const MAX_QUEUED_BURSTS = 1_000;

/**
 * The demand of a stage, ready to be executed. The runtime loads this module only where one is set, so
 * that nothing is paid for it elsewhere. Throws DEMAND_INVALID with the place of the fault,
 * DEMAND_PLACE_UNUSABLE, and what the runner and the calibration throw.
 */
export async function openStageDemand(
  config: DemandConfig,
  definition: StageDefinition,
  context: Pick<StageContext, 'clock' | 'store' | 'span' | 'metrics'> & {
    readonly nowMs?: () => number;
  },
  instance: string,
): Promise<StageDemand> {
  const { demandPlacement, demandSeed } = config;
  const stage = definition.name;
  const demands = parseDemands(config.demand, (path) => readFileSync(path, 'utf8'));
  if (definition.emulate === undefined && demands.some(({ place }) => place === 'instead')) {
    throw new TachographError('DEMAND_PLACE_UNUSABLE', { stage });
  }
  const runner = await createDemandRunner(demands, {
    placement:
      demandPlacement === 'inline'
        ? demandPlacement
        : { workers: demandPlacement.workers, maxQueue: MAX_QUEUED_BURSTS },
    random: randomStream(demandSeed, `${stage}/demand`),
    clock: context.clock,
    localRate: await localRate(demands, config.demandCalibration),
  });
  const settings = {
    demand: demands.map(formatDemand).join(' '),
    placement:
      demandPlacement === 'inline' ? demandPlacement : `workers:${demandPlacement.workers}`,
    seed: demandSeed,
  };
  return new StageDemand({ ...context, stage, runner, settings, instance });
}

async function localRate(
  demands: readonly Demand[],
  calibrationFile: string,
): Promise<number | undefined> {
  const isAsked = demands.some((demand) => demand.kind === 'work' && demand.rate === 'local');
  if (!isAsked || calibrationFile === '') return undefined;
  return readLocalStepsPerMs(calibrationFile, machineKey(createKernel().sha256));
}
