import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { eventToStructured } from '#eventing/contracts/codec.ts';
import type { StageName } from '#eventing/contracts/catalog.ts';
import type { ParkedFact } from '../facts/facts.ts';
import { sha256Hex } from '../system/sha256.ts';
import { anyTextPart } from './any-text-part.ts';
import type { StageContext } from './stage.ts';

/** Keeps an event that cannot be used, with its reason. Parking the same event twice keeps the first. */
export async function park(
  stage: StageName,
  event: CloudEvent,
  reason: string,
  detail: string,
  context: StageContext,
): Promise<void> {
  const vehicle = anyTextPart(event.subject ?? 'unknown');
  const fact: ParkedFact = {
    vehicle,
    stage,
    reason,
    detail: detail.slice(0, 2_000),
    event: eventToStructured(event),
    parkedAtMs: context.clock.nowMs(),
  };
  const id = `${vehicle}/${stage}/${anyTextPart(event.id)}`;
  await context.store.insert('parked', id, { ...fact }, sha256Hex(event.id));
  context.metrics?.eventParked(reason);
  context.log.warn('parked an event', { eventId: event.id, type: event.type, reason, detail });
}
