import { Pool } from 'undici';
import {
  eventSource,
  eventType,
  type EventName,
  type StageName,
} from '#eventing/contracts/catalog.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { eventToBinary } from '#eventing/contracts/codec.ts';
import type { Clock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import type { Emission } from './stage.ts';

/** Carried from the causing event to what it causes: intended send time and trace context. */
const CARRIED = ['tachointended', 'traceparent', 'tracestate', 'tachotrace'] as const;

/**
 * The event that announces a fact. Its id is derived from the fact, so that a repeat is recognised
 * as one: `data-provider/veh-1/s1/00000007/0001`.
 */
export function emissionEvent<N extends EventName>(
  stage: StageName,
  emission: Emission<N>,
  cause: CloudEvent | undefined,
  nowMs: number,
): CloudEvent {
  const extensions: Record<string, string> = { partitionkey: emission.subject };
  for (const name of CARRIED) {
    const value = cause?.extensions[name];
    if (value !== undefined) extensions[name] = value;
  }
  const suffix = emission.cause === undefined ? '' : `/${emission.cause}`;
  return {
    id: `${stage}/${emission.factId}${suffix}`,
    source: eventSource(stage),
    type: eventType(emission.name),
    subject: emission.subject,
    time: new Date(nowMs).toISOString(),
    datacontenttype: 'application/json',
    extensions,
    data: Buffer.from(JSON.stringify(emission.data)),
  };
}

export interface Emitter {
  emit<N extends EventName>(emission: Emission<N>, cause: CloudEvent | undefined): Promise<void>;
  close(): Promise<void>;
}

/** Emits by POST to the sink; resolves after its 2xx, rejects with EMIT_FAILED on anything else. */
export function sinkEmitter(stage: StageName, sink: string | undefined, clock: Clock): Emitter {
  const url = sink === undefined ? undefined : new URL(sink);
  const pool =
    url === undefined
      ? undefined
      : new Pool(url.origin, { connections: 16, headersTimeout: 10_000, bodyTimeout: 10_000 });
  return {
    async emit(emission, cause) {
      const event = emissionEvent(stage, emission, cause, clock.nowMs());
      if (pool === undefined || url === undefined) {
        throw new TachographError('EMIT_FAILED', { type: event.type, detail: 'K_SINK is not set' });
      }
      const { headers, body } = eventToBinary(event);
      let status: number;
      try {
        const answer = await pool.request({
          method: 'POST',
          path: url.pathname + url.search,
          headers,
          body,
        });
        status = answer.statusCode;
        await answer.body.dump();
      } catch (cause) {
        const detail = cause instanceof Error ? cause.message : String(cause);
        throw new TachographError('EMIT_FAILED', { type: event.type, detail }, { cause });
      }
      if (status < 200 || status > 299) {
        const detail = `the sink answered ${status}`;
        throw new TachographError('EMIT_FAILED', { type: event.type, detail });
      }
    },
    close: async () => {
      await pool?.close();
    },
  };
}
