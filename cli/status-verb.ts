import type { ScalingStatus } from '#infra/local/autoscaling/autoscaler.ts';
import type { ClusterStatus } from '#infra/local/cluster.ts';
import { fetchStatus } from './fetch-status.ts';
import { readLocalState } from './local-state.ts';
import type { Verb } from './verb.ts';

/** `tachograph status`. */
export const statusVerb: Verb = {
  name: 'status',
  summary: 'shows the stages and the events under way of the running pipeline',
  details: [
    'A stage without load has no replica; that is as it should be. Exit code 1 when nothing is running, or',
    'a replica that is wanted is not ready.',
  ],
  options: {},
  async run({ home, terminal }) {
    const state = await readLocalState(home);
    if (state === undefined) {
      terminal.document({ running: false });
      terminal.print('Nothing is running; "make up" (npx tachograph up) starts the pipeline.');
      return 1;
    }
    const status = await fetchStatus(state);
    const ready = Object.values(status.scaling).every((stage) => stage.ready >= stage.desired);
    terminal.document({ running: true, ready, ...state, ...status });
    for (const line of statusLines(status)) terminal.print(line);
    terminal.print(state.dataDir);
    return ready ? 0 : 1;
  },
};

function statusLines(status: ClusterStatus): string[] {
  const { services, eventing, scaling, enforcement } = status;
  const { accepted, duplicates, refused } = eventing.ingress;
  return [
    `gateway ${status.gatewayUrl}, nats ${status.natsUrl}`,
    `limits: CPU ${enforcement.cpu}, memory ${enforcement.memory} (${enforcement.why})`,
    ...services.flatMap(({ name: service, replicas }) => [
      stageLine(service, scaling[service]),
      ...replicas.map(({ name, phase, pid, restarts, lastEnd }) => {
        const end = lastEnd === undefined ? '' : `, last ended with ${lastEnd}`;
        return `    ${name.padEnd(28)}${phase.padEnd(10)}pid ${pid ?? '-'}, ${restarts} restarts${end}`;
      }),
    ]),
    `events: ${accepted} accepted (${duplicates} of them repeats), ${refused} refused`,
    ...Object.entries(eventing.triggers).map(([name, trigger]) => {
      const { delivered, retried, deadLettered, pending } = trigger;
      const counts = `${delivered} delivered, ${retried} retried, ${deadLettered} dead-lettered`;
      return `  ${name.padEnd(30)}${counts}, ${pending} pending`;
    }),
  ];
}

const stageLine = (name: string, stage: ScalingStatus | undefined): string =>
  stage === undefined
    ? `  ${name}`
    : `  ${name.padEnd(30)}${stage.ready} of ${stage.desired} ready, by ${stage.policy}`;
