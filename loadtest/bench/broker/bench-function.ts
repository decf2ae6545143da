import type { AddressInfo } from 'node:net';
import { eventFromHttp } from '#eventing/contracts/codec.ts';
import type { CloudEvent as SdkEvent } from 'cloudevents';
import { HTTP } from 'cloudevents';
import { fastify } from 'fastify';
import type { Mode } from './bench-process.ts';
import { listenToParent, say } from './bench-process.ts';

/**
 * The function behind the hop: reads the event and its JSON, answers 204. Arguments: lean or naive, and
 * the unix socket to listen on where it is no port.
 */
const mode = process.argv[2] as Mode;
const socketPath = process.argv[3];

let seen = new Set<string>();
let expected = Number.POSITIVE_INFINITY;

function count(id: string, data: unknown): void {
  if (typeof data !== 'object' || data === null) throw new Error('the data did not arrive');
  seen.add(id);
  if (seen.size >= expected) {
    expected = Number.POSITIVE_INFINITY;
    say({ kind: 'received' });
  }
}

const app = fastify();
app.removeAllContentTypeParsers();
if (mode === 'lean') {
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  app.post('/', (request, reply) => {
    const event = eventFromHttp(request.headers, request.body as Buffer);
    count(event.id, JSON.parse(Buffer.from(event.data).toString()) as unknown);
    return reply.status(204).send();
  });
} else {
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body));
  app.post('/', (request, reply) => {
    const { headers, body } = request;
    const event = HTTP.toEvent({ headers, body }) as SdkEvent<unknown>;
    count(event.id, event.data);
    return reply.status(204).send();
  });
}
await app.listen(socketPath === undefined ? { host: '127.0.0.1', port: 0 } : { path: socketPath });
listenToParent((message) => {
  if (message.kind !== 'expect') return;
  seen = new Set();
  expected = message.events;
});
const address = app.server.address();
say({ kind: 'ready', port: typeof address === 'object' ? (address as AddressInfo).port : 0 });
