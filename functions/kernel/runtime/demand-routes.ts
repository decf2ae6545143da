import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TachographError } from '../core/errors.ts';
import { sha256Hex } from '../system/sha256.ts';
import type { BurstHistograms, BurstRow } from './burst-log.ts';
import { callerSignal } from './caller-signal.ts';
import type { DemandCause, DemandSettings, StageDemand } from './stage-demand.ts';

export const BURSTS_PATH = '/bursts';

/** The answer of `GET /bursts`. */
export interface BurstsAnswer extends DemandSettings {
  readonly instance: string;
  readonly queueLength: number;
  /** Number of the instance's newest burst. */
  readonly newest: number;
  /** Of all bursts since the process began. */
  readonly histograms: readonly BurstHistograms[];
  /** The bursts after the asked number that are still kept, ascending. */
  readonly rows: readonly BurstRow[];
}

/** What `?after=` may hold: `INSTANCE:N`, one a replica that the reader knows, joined by commas. */
const AFTER = /^([A-Za-z0-9._~-]{1,100}:\d{1,15})(,[A-Za-z0-9._~-]{1,100}:\d{1,15}){0,999}$/;

/**
 * `GET /bursts?after=INSTANCE:N`: reading takes nothing away, so that several may read. A reader says
 * up to which burst of each replica it has read, since it cannot choose which one answers it.
 */
export function serveBursts(app: FastifyInstance, demand: StageDemand): void {
  const route = { schema: { hide: true } };
  app.get<{ Querystring: { after?: string } }>(BURSTS_PATH, route, ({ query }): BurstsAnswer => {
    const { instance, bursts, settings, queueLength } = demand;
    return {
      ...settings,
      instance,
      queueLength,
      newest: bursts.newest,
      histograms: bursts.histograms(),
      rows: bursts.after(readUpTo(query.after, instance)),
    };
  });
}

function readUpTo(after: string | undefined, instance: string): number {
  if (after === undefined) return 0;
  if (!AFTER.test(after)) {
    const detail = 'after must be INSTANCE:N, several joined by commas';
    throw new TachographError('REQUEST_INVALID', { detail });
  }
  const own = after.split(',').find((entry) => entry.startsWith(`${instance}:`));
  return own === undefined ? 0 : Number(own.slice(instance.length + 1));
}

/**
 * The demand of a stage that consumes no events: it is executed for every POST of its routes that was
 * authenticated, before its handler, and after it where that succeeded.
 */
export function consumeForRequests(routes: FastifyInstance, demand: StageDemand): void {
  routes.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST') return;
    await demand.consume('before', causeOf(request), callerSignal(reply));
  });
  routes.addHook('onSend', async (request, reply: FastifyReply, payload) => {
    if (request.method === 'POST' && reply.statusCode < 400) {
      await demand.consume('after', causeOf(request), callerSignal(reply));
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
