import { encodeHeaderValue } from '../contracts/header-value.ts';

/** Knative cuts `knativeerrordata` at 1,024 characters of base64: 768 bytes of the answer. */
const MAX_ERROR_BYTES = 768;
/** What Knative writes where there was no answer: 500, and the reason as the answer's body. */
const NO_ANSWER_STATUS = 500;

/** Why an event is given up. `status` is undefined where there was no answer. */
export interface DeliveryFailure {
  readonly destination: string;
  readonly status?: number;
  readonly body: Uint8Array;
}

/**
 * The event's headers for the dead letter sink: the event itself with `knativeerrordest` (where it could
 * not be delivered), `knativeerrorcode` (the last status) and `knativeerrordata` (the last answer's
 * printable ASCII, base64; left out when there is none).
 */
export function deadLetterHeaders(
  headers: Readonly<Record<string, string>>,
  failure: DeliveryFailure,
): Record<string, string> {
  const printable = failure.body.filter((byte) => byte >= 0x20 && byte < 0x7f);
  const data = Buffer.from(printable.subarray(0, MAX_ERROR_BYTES)).toString('base64');
  return {
    ...headers,
    'ce-knativeerrordest': encodeHeaderValue(failure.destination),
    'ce-knativeerrorcode': String(failure.status ?? NO_ANSWER_STATUS),
    ...(data === '' ? {} : { 'ce-knativeerrordata': data }),
  };
}
