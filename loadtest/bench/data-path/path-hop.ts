import { startEventing } from '#eventing/dispatch/start-eventing.ts';
import { parseTrigger } from '#eventing/dispatch/trigger-spec.ts';
import { Gateway } from '#infra/local/data-path/gateway.ts';
import { PathSender } from '#infra/local/data-path/path-sender.ts';
import { randomStream } from '#kernel/core/random.ts';
import { silentLog } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { listenToParent, MAX_IN_FLIGHT, say } from '#loadtest/bench/broker/bench-process.ts';
import { openBenchPath } from './bench-path.ts';

/**
 * What the local cluster is between a stage and the next one, as one process: ingress, dispatcher,
 * gateway and activator. Arguments: NATS URL, the function's unix socket.
 */
const [natsUrl = '', socketPath = ''] = process.argv.slice(2);
const NAME = 'path';

const path = openBenchPath(MAX_IN_FLIGHT);
const gateway = await Gateway.start({
  services: [{ name: path.name, namespace: 'bench', path }],
  port: 0,
  clock: systemClock,
  log: silentLog,
  status: async () => ({}),
});
const uri = `${gateway.url}/bench/`;
const eventing = await startEventing({
  natsUrl,
  brokers: [{ namespace: 'bench', name: NAME }],
  triggers: [
    parseTrigger({
      kind: 'Trigger',
      metadata: {
        name: 'bench-path',
        namespace: 'bench',
        annotations: { 'tachograph.io/max-in-flight': String(MAX_IN_FLIGHT) },
      },
      spec: {
        broker: NAME,
        filter: { attributes: { type: 'bench.happened.v1' } },
        subscriber: { uri },
      },
    }),
  ],
  resolveUri: () => uri,
  openSender: (_, options) => new PathSender(path, '/', uri, { ...options, clock: systemClock }),
  clock: systemClock,
  random: randomStream(1, 'jitter'),
  log: silentLog,
});
listenToParent((message) => {
  if (message.kind === 'askGateway') {
    say({ kind: 'gateway', port: Number(new URL(gateway.url).port) });
  }
  if (message.kind === 'replica') {
    path.setReplica('bench-0', message.ready ? { socketPath } : undefined);
  }
});
say({ kind: 'ready', port: Number(new URL(eventing.ingressUrl).port) });
