import { BATCH_RECORDED_TYPE } from '#eventing/contracts/catalog.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import type { HttpHeaders } from '#eventing/contracts/codec.ts';
import { eventFromHttp } from '#eventing/contracts/codec.ts';
import { MAX_BODY_BYTES } from '#kernel/batch/batch-limits.ts';
import { TachographError } from '#kernel/core/errors.ts';

/** Room for the attributes beside the largest body. */
const MAX_UPLOAD_EVENT_BYTES = MAX_BODY_BYTES + 65_536;

/**
 * The CloudEvent that an upload in binary mode is, or undefined for a plain POST (no `ce-…`
 * header). Throws EVENT_INVALID when the headers are no event, or the event of another vehicle or
 * type.
 */
export function uploadEvent(
  headers: HttpHeaders,
  body: Uint8Array,
  vehicle: string,
): CloudEvent | undefined {
  if (!Object.keys(headers).some((name) => name.startsWith('ce-'))) return undefined;
  const event = eventFromHttp(headers, body, MAX_UPLOAD_EVENT_BYTES);
  if (event.type !== BATCH_RECORDED_TYPE) {
    const detail = `type = "${event.type}"; an upload is of type ${BATCH_RECORDED_TYPE}`;
    throw new TachographError('EVENT_INVALID', { detail });
  }
  if (event.subject !== vehicle) {
    const detail = `subject = "${event.subject ?? ''}"; it must be the vehicle ${vehicle}`;
    throw new TachographError('EVENT_INVALID', { detail });
  }
  return event;
}
