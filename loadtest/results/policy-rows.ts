import { join } from 'node:path';
import { RECORD_FILES } from '#infra/local/cluster-recorder.ts';
import { readNdjson } from './ndjson.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';

/** What scaled a stage, by the rows `policy` and `nodePolicy` of `decisions.ndjson`. */
export interface ScaledBy {
  readonly service: string;
  readonly policy: string;
  /** The program of a policy of the user's own. */
  readonly module: string | null;
  readonly periodMs: number;
  /** The policy's own settings, defaults filled in. */
  readonly config: unknown;
}

/** In the order of their rows. */
export async function readScaledBy(folder: string): Promise<readonly ScaledBy[]> {
  const rows: ScaledBy[] = [];
  for await (const row of readNdjson<DecisionRow>(join(folder, RECORD_FILES.decisions))) {
    if (row.kind === 'policy') {
      const { service, policy, module, periodMs, config } = row;
      rows.push({ service, policy, module, periodMs, config });
    }
    if (row.kind === 'nodePolicy') {
      const { config } = row;
      for (const { name } of config.services) {
        rows.push({
          service: name,
          policy: 'node',
          module: null,
          periodMs: config.periodMs,
          config,
        });
      }
    }
  }
  return rows;
}

/** `kpa`, or all names where stages differ: `keda+kpa`. */
export const policiesText = (scaledBy: readonly ScaledBy[]): string =>
  [...new Set(scaledBy.map(({ policy }) => policy))].sort().join('+');
