import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openEngine } from '#infra/local/autoscaling/open-engine.ts';
import {
  replayDecisions,
  type ReplayedService,
} from '#infra/local/autoscaling/replay-decisions.ts';
import { RECORD_FILES } from '#infra/local/cluster-recorder.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { readNdjson } from '#loadtest/results/ndjson.ts';
import type { Verb, VerbContext } from './verb.ts';

/** Differences printed one by one for each Service. */
const MAX_SHOWN = 5;

/** `tachograph replay-decisions DIR`. */
export const replayDecisionsVerb: Verb = {
  name: 'replay-decisions',
  summary: "feeds a run's recorded observations to its policies again and compares every decision",
  details: [
    `Reads ${RECORD_FILES.decisions} of a result folder. Exit code 1 when a decision differs: the policy is`,
    'not a pure function of what it saw, or it is another than the one that ran.',
  ],
  options: {},
  operands: { text: '[DIR]', max: 1 },
  async run(context) {
    const { root, operands, terminal } = context;
    const folder = resolve(operands[0] ?? join(root, 'results', 'latest'));
    if (!existsSync(join(folder, RECORD_FILES.decisions))) {
      const remedy = 'what "up" runs writes it to records/ in its data folder';
      const detail = `${folder} has none: the run had no cluster of its own; ${remedy}`;
      throw new TachographError('RECORD_INVALID', { file: RECORD_FILES.decisions, detail });
    }
    const rows = readNdjson<DecisionRow>(join(folder, RECORD_FILES.decisions));
    const services = await replayDecisions(rows, (row) => openEngine(row, root, systemClock));
    const same = services.every(({ differences }) => differences.length === 0);
    terminal.document({ folder, same, services });
    for (const service of services) tell(service, context);
    const total = services.reduce((sum, { decisions }) => sum + decisions, 0);
    const verdict = same
      ? `All ${total} decisions are the same.`
      : 'Not all decisions are the same.';
    terminal.print(terminal.colour(same ? 'green' : 'red', verdict));
    terminal.print(folder);
    return same && total > 0 ? 0 : 1;
  },
};

function tell(
  { service, policy, decisions, differences, moreDifferences }: ReplayedService,
  { terminal }: VerbContext,
): void {
  const different = differences.length + moreDifferences;
  const head = `${service.padEnd(22)}${policy.padEnd(10)}${decisions} decisions`;
  terminal.print(different === 0 ? head : `${head}, ${different} differ`);
  for (const { line, atMs, fields } of differences.slice(0, MAX_SHOWN)) {
    const what = fields.map(
      ({ name, recorded, replayed }) =>
        `${name} ${JSON.stringify(recorded)} → ${JSON.stringify(replayed)}`,
    );
    terminal.print(`  line ${line}, ${Math.round(atMs)} ms: ${what.join(', ')}`);
  }
}
