import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { ATTRIBUTE, HANDLE_SPAN } from '../telemetry/names.ts';
import type { AttributeValue, RequestSpan, StageTelemetry } from '../telemetry/stage-telemetry.ts';

export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** As the telemetry's clock has it. */
  readonly arrivedMs: number;
}

/** Does the work of an event inside its span, which ends with the answer. */
export async function traceEvent(
  telemetry: StageTelemetry,
  { request, response, arrivedMs, event }: Arrival & { readonly event: CloudEvent },
  work: (span: RequestSpan) => Promise<void>,
): Promise<void> {
  const attributes = (): Record<string, AttributeValue> => ({
    [ATTRIBUTE.eventId]: event.id,
    [ATTRIBUTE.eventSource]: event.source,
    [ATTRIBUTE.eventType]: event.type,
    ...(event.subject === undefined ? {} : { [ATTRIBUTE.eventSubject]: event.subject }),
    [ATTRIBUTE.messagingOperation]: HANDLE_SPAN,
    [ATTRIBUTE.messagingOperationType]: 'process',
    [ATTRIBUTE.messagingBodyBytes]: event.data.length,
  });
  const { headers } = request;
  const { extensions } = event;
  const start = { kind: 'event', startMs: arrivedMs, headers, extensions, attributes } as const;
  const span = telemetry.start(start);
  endWithAnswer(span, response);
  try {
    await span.run(() => work(span));
  } catch (error) {
    span.noteFailure(error);
    throw error;
  }
}

/** The span of a request for one of the stage's own routes; ends with the answer. */
export function traceRequest(
  telemetry: StageTelemetry,
  { request, response, arrivedMs }: Arrival,
): RequestSpan {
  const { method = '', url = '', headers } = request;
  const span = telemetry.start({
    kind: 'request',
    startMs: arrivedMs,
    headers,
    // An upload is an event in binary mode.
    extensions: {
      traceparent: one(headers['ce-traceparent']),
      tracestate: one(headers['ce-tracestate']),
      tachotrace: one(headers['ce-tachotrace']),
    },
    attributes: () => ({
      [ATTRIBUTE.httpMethod]: method,
      [ATTRIBUTE.urlPath]: url.replace(/[?#].*$/, ''),
    }),
  });
  endWithAnswer(span, response);
  return span;
}

const one = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

function endWithAnswer(span: RequestSpan, response: ServerResponse): void {
  response.once('close', () => span.end(response.writableFinished ? response.statusCode : null));
}
