import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sha256Hex } from '../system/sha256.ts';
import { callerSignal } from './caller-signal.ts';
import type { DemandCause, StageDemand } from './stage-demand.ts';

/**
 * The demand of a stage that consumes no events: it is executed for every POST of its routes that was
 * authenticated, before its handler, and after it where that succeeded.
 */
export function consumeForRequests(routes: FastifyInstance, demand: StageDemand): void {
  routes.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST') return;
    await demand.consume('before', causeOf(request), callerSignal(reply.raw));
  });
  routes.addHook('onSend', async (request, reply: FastifyReply, payload) => {
    if (request.method === 'POST' && reply.statusCode < 400) {
      await demand.consume('after', causeOf(request), callerSignal(reply.raw));
    }
    return payload;
  });
}

/** A request sent again has the same body and is the same cause. */
function causeOf({ url, body, params }: FastifyRequest): DemandCause {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const { vehicle } = params as { readonly vehicle?: string };
  return { key: sha256Hex(`${url} ${sha256Hex(bytes)}`), subject: vehicle };
}
