import { PING_TYPE } from '#eventing/contracts/catalog.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import type { PingSpec } from './ping-manifest.ts';
import { nextPingMs } from './ping-schedule.ts';

export interface PingSourceOptions extends PingSpec {
  readonly clock: Clock;
  readonly log: Log;
  readonly send: (event: CloudEvent) => Promise<void>;
}

/** The event of one due time; its id is the due time, so that a repeat is recognised as one. */
export function pingEvent(options: PingSourceOptions, dueMs: number): CloudEvent {
  const { name, namespace, contentType, data } = options;
  const time = new Date(dueMs).toISOString();
  return {
    id: `ping/${namespace}/${name}/${time}`,
    source: `/apis/v1/namespaces/${namespace}/pingsources/${name}`,
    type: PING_TYPE,
    time,
    datacontenttype: contentType,
    extensions: {},
    data: Buffer.from(data),
  };
}

/**
 * Sends an event at each due time until `signal` aborts; then resolves. A time that could not be sent
 * is logged and not made up for: the next one does the same work.
 */
export async function runPingSource(
  options: PingSourceOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, name, schedule, send } = options;
  while (!signal.aborted) {
    const nowMs = clock.nowMs();
    const dueMs = nextPingMs(schedule, nowMs);
    try {
      await clock.sleep(dueMs - nowMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    try {
      await send(pingEvent(options, dueMs));
    } catch (error) {
      log.warn('ping could not be sent', { name, error: String(error) });
    }
  }
}
