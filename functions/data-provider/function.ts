import { eventType, PING_TYPE } from '#eventing/contracts/catalog.ts';
import { parseEventData } from '#eventing/contracts/event-data.ts';
import type { StageDefinition } from '#kernel/runtime/stage.ts';
import { emulateFollowing } from './emulate-following.ts';
import { followSession } from './follow-session.ts';
import { SessionCache } from './session-cache.ts';
import { tick, type TickCursor } from './tick.ts';

/**
 * Follows each recording session by its receipts: which batches came, which are missing, which
 * windows and sessions are closed by that, and says so.
 */
export function createDataProviderStage(): StageDefinition {
  const cache = new SessionCache();
  const cursor: TickCursor = { after: '' };
  return {
    name: 'data-provider',
    consumes: [eventType('batch.stored.v1'), PING_TYPE],
    async handle(event, context, signal) {
      if (event.type === PING_TYPE) return tick(event, context, signal, cache, cursor);
      const { vehicle, session, seq } = parseEventData('batch.stored.v1', event);
      return followSession({ vehicle, session, event, context, signal }, seq, cache);
    },
    emulate: emulateFollowing,
  };
}
