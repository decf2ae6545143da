import { startEventing } from '#eventing/dispatch/start-eventing.ts';
import { parseTrigger } from '#eventing/dispatch/trigger-spec.ts';
import { randomStream } from '#kernel/core/random.ts';
import { silentLog } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { listenToParent, MAX_IN_FLIGHT, say } from './bench-process.ts';

/** The program's own broker hop as one process. Arguments: NATS URL, subscriber URL. */
const [natsUrl = '', uri = ''] = process.argv.slice(2);

const eventing = await startEventing({
  natsUrl,
  brokers: [{ namespace: 'bench', name: 'lean' }],
  triggers: [
    parseTrigger({
      kind: 'Trigger',
      metadata: {
        name: 'bench',
        namespace: 'bench',
        annotations: { 'tachograph.io/max-in-flight': String(MAX_IN_FLIGHT) },
      },
      spec: {
        broker: 'lean',
        filter: { attributes: { type: 'bench.happened.v1' } },
        subscriber: { uri },
      },
    }),
  ],
  resolveUri: (destination) => destination.uri ?? '',
  clock: systemClock,
  random: randomStream(1, 'jitter'),
  log: silentLog,
});
listenToParent(() => {});
say({ kind: 'ready', port: Number(new URL(eventing.ingressUrl).port) });
