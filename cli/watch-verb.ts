import { systemClock } from '#kernel/system/system-clock.ts';
import { durationOption } from './duration-option.ts';
import { fetchStatus } from './fetch-status.ts';
import { readLocalState } from './local-state.ts';
import type { Verb, VerbContext } from './verb.ts';
import { watchLines } from './watch-lines.ts';

/** To the top left, and what is below goes away: the picture is drawn over the one before. */
const HOME_AND_CLEAR = '\u001b[H\u001b[J';

/** `tachograph watch`. */
export const watchVerb: Verb = {
  name: 'watch',
  summary: 'shows replicas, queues, concurrency, panic and backlog of each stage, live',
  details: [
    'On a terminal the picture is drawn anew each time; elsewhere, and with --json, one after another.',
    'Ctrl-C ends it. Exit code 1 when nothing is running.',
  ],
  options: {
    every: { kind: 'text', value: 'TIME', about: 'time between two pictures (default: 1s)' },
    once: { kind: 'flag', about: 'one picture, then the end' },
  },
  async run(context) {
    const everyMs = durationOption('every', context.option('every') ?? '1s', {
      minMs: 200,
      maxMs: 3_600_000,
    });
    for (;;) {
      const state = await readLocalState(context.home);
      if (state === undefined) {
        context.terminal.document({ running: false });
        context.terminal.print('Nothing is running; "make up" (npx tachograph up) starts it.');
        return 1;
      }
      show(await fetchStatus(state), context);
      if (context.flag('once')) return 0;
      await systemClock.sleep(everyMs, context.signal);
    }
  },
};

function show(status: Awaited<ReturnType<typeof fetchStatus>>, context: VerbContext): void {
  const { terminal } = context;
  terminal.document(status);
  const at = new Date(systemClock.nowMs()).toISOString().slice(11, 19);
  const lines = watchLines(status, at);
  if (process.stdout.isTTY && !context.flag('once'))
    lines[0] = `${HOME_AND_CLEAR}${lines[0] ?? ''}`;
  for (const line of lines) terminal.print(line);
}
