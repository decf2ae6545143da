import { request } from 'undici';
import type { ClusterStatus } from '#infra/local/cluster.ts';
import { STATUS_PATH } from '#infra/local/gateway.ts';
import { readLocalState } from './local-state.ts';
import type { Verb } from './verb.ts';

const ANSWER_LIMIT_MS = 5_000;

/** `tachograph status`. */
export const statusVerb: Verb = {
  name: 'status',
  summary: 'shows the stages and the events under way of the running pipeline',
  details: ['Exit code 1 when nothing is running, or a stage is not ready.'],
  options: {},
  async run({ home, terminal }) {
    const state = await readLocalState(home);
    if (state === undefined) {
      terminal.document({ running: false });
      terminal.print('Nothing is running; "make up" (npx tachograph up) starts the pipeline.');
      return 1;
    }
    const answer = await request(`${state.gatewayUrl}${STATUS_PATH}`, {
      headersTimeout: ANSWER_LIMIT_MS,
      bodyTimeout: ANSWER_LIMIT_MS,
    });
    const status = (await answer.body.json()) as ClusterStatus;
    const replicas = status.services.flatMap((service) => service.replicas);
    const ready = replicas.every(({ phase }) => phase === 'ready');
    terminal.document({ running: true, ready, ...state, ...status });
    for (const line of statusLines(status)) terminal.print(line);
    terminal.print(state.dataDir);
    return ready ? 0 : 1;
  },
};

function statusLines(status: ClusterStatus): string[] {
  const { services, eventing } = status;
  const { accepted, duplicates, refused } = eventing.ingress;
  return [
    `gateway ${status.gatewayUrl}, nats ${status.natsUrl}`,
    ...services.flatMap(({ replicas }) =>
      replicas.map(({ name, phase, pid, restarts, lastEnd }) => {
        const end = lastEnd === undefined ? '' : `, last ended with ${lastEnd}`;
        return `  ${name.padEnd(30)}${phase.padEnd(10)}pid ${pid ?? '-'}, ${restarts} restarts${end}`;
      }),
    ),
    `events: ${accepted} accepted (${duplicates} of them repeats), ${refused} refused`,
    ...Object.entries(eventing.triggers).map(([name, trigger]) => {
      const { delivered, retried, deadLettered, pending } = trigger;
      const counts = `${delivered} delivered, ${retried} retried, ${deadLettered} dead-lettered`;
      return `  ${name.padEnd(30)}${counts}, ${pending} pending`;
    }),
  ];
}
