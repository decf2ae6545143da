import { request } from 'undici';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { eventToBinary } from '#eventing/contracts/codec.ts';
import { TachographError } from '#kernel/core/errors.ts';

/** Sends an event by HTTP; rejects with EMIT_FAILED unless it was taken. */
export async function postEvent(url: string, event: CloudEvent): Promise<void> {
  const { headers, body } = eventToBinary(event);
  const answer = await request(url, {
    method: 'POST',
    headers,
    body,
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
  });
  await answer.body.dump();
  if (answer.statusCode < 200 || answer.statusCode > 299) {
    throw new TachographError('EMIT_FAILED', {
      type: event.type,
      detail: `the sink answered ${answer.statusCode}`,
    });
  }
}
