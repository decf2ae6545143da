import { searchNats } from '#infra/local/local-nats.ts';
import { explainNats } from '#eventing/broker/find-nats.ts';
import { readNatsRelease } from '#eventing/broker/nats-release.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { allMet, BENCHES, benchLines, benchNames, runBenches } from '#loadtest/bench/main.ts';
import type { Verb, VerbContext } from './verb.ts';

/** `tachograph bench`, which is `make bench`. */
export const benchVerb: Verb = {
  name: 'bench',
  summary: 'measures the hot paths against their targets',
  details: [
    'decode: frames/s on one core beside npm candied; wire: bytes a frame; samples: stored bytes a',
    'sample; broker: events/s through the hop beside a naive one; rest: what wall time of a burst has',
    'beyond CPU time and waiting. Exit code 1 when a target is missed.',
    'cold-start: spawn to first response of a stage from its bundle, from source, with sdk-node.',
    'Close other programs: figures are of the moment, and the targets are for an idle machine.',
  ],
  options: {
    only: { kind: 'text', value: 'NAMES', about: `some of ${BENCHES.join(',')} (default: all)` },
  },
  async run(context) {
    const { root, signal, terminal } = context;
    const tables = await runBenches({
      root,
      clock: systemClock,
      benches: benchNames(context.option('only')),
      natsBinary: () => natsBinary(context),
      signal,
      onNote: (line) => terminal.note(line),
    });
    for (const { bench, rows } of tables) {
      terminal.print(terminal.colour('bold', bench));
      for (const line of benchLines(rows)) terminal.print(`  ${line}`);
    }
    const met = allMet(tables);
    terminal.document({ met, tables });
    terminal.print(met ? 'All targets are met.' : 'Not all targets are met.');
    return met ? 0 : 1;
  },
};

/** A server given by NATS_URL will not do: the benchmark measures its own. */
async function natsBinary({ root, env, terminal }: VerbContext): Promise<string> {
  const { NATS_URL: _, ...own } = env;
  const surroundings = { root, env: own, platform: process.platform, architecture: process.arch };
  const onProgress = (line: string): void => terminal.note(line);
  const search = await searchNats(surroundings, { install: true, onProgress });
  if (search.binary !== undefined) return search.binary;
  const { minimumVersion: minimum } = await readNatsRelease();
  throw new TachographError('NATS_NOT_FOUND', { minimum, detail: explainNats(search) });
}
