import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { request } from 'undici';
import { VirtualClock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import type { BodyLimits } from '../body-reader.ts';
import { Gateway } from '../gateway.ts';
import type { ServiceManifest } from '../manifests/service-manifest.ts';

export const manifest = (over: Partial<ServiceManifest> = {}): ServiceManifest => ({
  name: 'one',
  namespace: 'lab',
  labels: {},
  entry: 'x.ts',
  replicas: 1,
  containerConcurrency: 2,
  timeoutMs: 5_000,
  env: [],
  at: { file: 'x.yaml', line: 1 },
  ...over,
});

export const servers: Server[] = [];
export const gateways: Gateway[] = [];
/** Ends what the test opened. */
export async function closeGateways(): Promise<void> {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
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

/** A gateway before these Services, in virtual time; its first one is at `url`. */
export async function openGateway(services = [manifest()], bodyLimits: Partial<BodyLimits> = {}) {
  const clock = new VirtualClock();
  const status = async (): Promise<object> => ({ fine: true });
  const gateway = await Gateway.start({
    services,
    port: 0,
    clock,
    log: silentLog,
    holdMs: 1_000,
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
