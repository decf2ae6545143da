import { STAGE_NAMES, type StageName } from '#eventing/contracts/catalog.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { calibrationPath } from '#kernel/calibration/calibration-file.ts';
import {
  MAX_DEMAND_SEED,
  parseDemandPlacement,
  PLACEMENT_REMEDY,
} from '#kernel/config/stage-config.ts';
import { formatDemand } from '#kernel/demand/format-demand.ts';
import { parseDemands } from '#kernel/demand/parse-demand.ts';
import { closestName } from './closest-name.ts';
import { numberOption } from './number-option.ts';

export interface DemandOptions {
  /** Values of `--demand`. */
  readonly demands: readonly string[];
  readonly placement: string | undefined;
  readonly seed: string | undefined;
  /** Where `tachograph calibrate` keeps its file. */
  readonly home: string;
}

/**
 * The options of demands as keys of the ConfigMap that the Services' environment refers to. Throws
 * CONFIG_INVALID, DEMAND_INVALID: before any stage is started, which would say it in its log.
 */
export function demandSettings(options: DemandOptions): Readonly<Record<string, string>> {
  const { demands, placement, seed, home } = options;
  if (placement !== undefined && parseDemandPlacement(placement) === undefined) {
    throw new TachographError('CONFIG_INVALID', {
      name: '--demand-placement',
      value: placement,
      remedy: PLACEMENT_REMEDY,
    });
  }
  numberOption('demand-seed', seed, 1, { min: 0, max: MAX_DEMAND_SEED, integer: true });
  const byStage = Object.entries(stageDemands(demands));
  return {
    ...Object.fromEntries(byStage.map(([stage, demand]) => [`demand-${stage}`, demand])),
    ...(placement === undefined ? {} : { 'demand-placement': placement }),
    ...(seed === undefined ? {} : { 'demand-seed': seed }),
    'demand-calibration': calibrationPath(home),
  };
}

/** The demands of `--demand STAGE=TEXT`, by stage; several of one stage are added up. */
function stageDemands(texts: readonly string[]): Readonly<Record<string, string>> {
  const demands: Record<string, string> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    const stage = stageName(text.slice(0, Math.max(at, 0)), text);
    const demand = parseDemands(text.slice(at + 1))
      .map(formatDemand)
      .join(' ');
    demands[stage] = [demands[stage] ?? '', demand].filter((part) => part !== '').join(' ');
  }
  return demands;
}

function stageName(name: string, text: string): StageName {
  const found = STAGE_NAMES.find((stage) => stage === name);
  if (found !== undefined) return found;
  const near = closestName(name, STAGE_NAMES);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  const remedy = `use STAGE=DEMAND with one of ${STAGE_NAMES.join(', ')}${hint}`;
  throw new TachographError('CONFIG_INVALID', { name: '--demand', value: text, remedy });
}
