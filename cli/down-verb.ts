import { systemClock } from '#kernel/system/system-clock.ts';
import { readLocalState, removeLocalState } from './local-state.ts';
import { processIdentity } from './process-identity.ts';
import type { Verb } from './verb.ts';

/** The pipeline's own limit is 60 s. */
const STOP_LIMIT_MS = 65_000;
const POLL_MS = 50;

/** `tachograph down`. */
export const downVerb: Verb = {
  name: 'down',
  summary: 'stops the pipeline that "up" started; its data stay',
  options: {},
  async run({ home, terminal, signal }) {
    const state = await readLocalState(home);
    if (state === undefined) {
      terminal.document({ stopped: false });
      terminal.print('Nothing is running.');
      return 0;
    }
    terminal.progress(`stopping process ${state.pid}`);
    const isThere = async (): Promise<boolean> =>
      (await processIdentity(state.pid)) === state.identity;
    if (await isThere()) process.kill(state.pid, 'SIGTERM');
    const deadlineMs = systemClock.monotonicMs() + STOP_LIMIT_MS;
    let killed = false;
    while (await isThere()) {
      await systemClock.sleep(POLL_MS, signal);
      if (killed || systemClock.monotonicMs() < deadlineMs) continue;
      terminal.note(`It did not stop within ${STOP_LIMIT_MS} ms and is killed`);
      // Its stages and nats-server end with it: they watch the channel to it.
      process.kill(state.pid, 'SIGKILL');
      killed = true;
    }
    await removeLocalState(home);
    terminal.document({ stopped: true, pid: state.pid, killed, dataDir: state.dataDir });
    terminal.print('Stopped. The data are in:');
    terminal.print(state.dataDir);
    return killed ? 1 : 0;
  },
};
