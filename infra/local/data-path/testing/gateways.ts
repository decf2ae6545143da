import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { request } from 'undici';
import type { Stat } from '#infra/autoscaling/policy.ts';
import type { BodyLimits } from '#infra/local/data-path/body-reader.ts';
import { Gateway } from '#infra/local/data-path/gateway.ts';
import { ServicePath, type ServicePathOptions } from '#infra/local/data-path/service-path.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { randomStream } from '#kernel/core/random.ts';
import { silentLog } from '#kernel/system/log.ts';

type PathOptions = Partial<ServicePathOptions>;

export const servers: Server[] = [];
export const gateways: Gateway[] = [];
const paths: ServicePath[] = [];

/** Ends what the test opened. */
export async function closeGateways(): Promise<void> {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  await Promise.all(paths.splice(0).map((path) => path.close()));
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
}

/** A stage in this process; gives its port. */
export async function stage(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** The path of a Service `one` with two places a replica, in virtual time, and what it told. */
export function openPath(options: PathOptions = {}, clock = new VirtualClock()) {
  const firstRequests: Stat[] = [];
  const firstResponses: string[] = [];
  const path = new ServicePath({
    name: 'one',
    kind: 'Service',
    containerConcurrency: 2,
    timeoutMs: 5_000,
    clock,
    random: randomStream(1, 'routing'),
    log: silentLog,
    onFirstRequest: (stat) => firstRequests.push(stat),
    onFirstResponse: (replica) => firstResponses.push(replica),
    ...options,
  });
  paths.push(path);
  return { path, clock, firstRequests, firstResponses };
}

/** A gateway before these Services, in virtual time; its first one is at `url`. */
export async function openGateway(
  services: readonly PathOptions[] = [{}],
  bodyLimits: Partial<BodyLimits> = {},
) {
  const clock = new VirtualClock();
  const status = async (): Promise<object> => ({ fine: true });
  const opened = services.map((options) => openPath(options, clock).path);
  const gateway = await Gateway.start({
    services: opened.map((path) => ({ name: path.name, namespace: 'lab', path })),
    port: 0,
    clock,
    log: silentLog,
    bodyLimits,
    status,
  });
  gateways.push(gateway);
  return { gateway, clock, url: `${gateway.url}/one` };
}

export const statusOf = async (url: string): Promise<number> => {
  const answer = await request(url);
  await answer.body.dump();
  return answer.statusCode;
};

/** All that the gateway answers to these bytes until it closes the connection. */
export async function rawAnswer(gateway: Gateway, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.write(bytes);
  let text = '';
  for await (const piece of socket) text += String(piece);
  return text;
}
