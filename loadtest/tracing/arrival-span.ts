import type { IncomingHttpHeaders } from 'node:http';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';
import { parseRequestStart, REQUEST_START } from '#kernel/core/request-start.ts';
import { ATTRIBUTE, HANDLE_SPAN } from '#kernel/telemetry/names.ts';
import type { ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import { findParent } from '#kernel/telemetry/propagation.ts';
import type { AttributeValue } from '#kernel/telemetry/stage-telemetry.ts';

/** `faas.name` of the subscriber that sees what was exported. */
export const SINK = 'sink';

export interface Arrived {
  readonly startMs: number;
  readonly headers: IncomingHttpHeaders;
  readonly event: CloudEvent;
  readonly data: DatasetExported;
}

/** Writes the span of an announcement that has arrived: the end of a batch's trace. */
export function traceArrival(
  tracing: ProcessTracing,
  { startMs, headers, event, data }: Arrived,
): void {
  const { fields, from } = findParent(headers, event.extensions);
  const attributes: Record<string, AttributeValue> = {
    [ATTRIBUTE.faasName]: SINK,
    [ATTRIBUTE.faasTrigger]: 'pubsub',
    [ATTRIBUTE.messagingOperation]: HANDLE_SPAN,
    [ATTRIBUTE.messagingOperationType]: 'process',
    [ATTRIBUTE.messagingId]: event.id,
    [ATTRIBUTE.messagingBodyBytes]: event.data.length,
    [ATTRIBUTE.eventId]: event.id,
    [ATTRIBUTE.eventSource]: event.source,
    [ATTRIBUTE.eventType]: event.type,
    [ATTRIBUTE.eventSubject]: data.vehicle,
    [ATTRIBUTE.parentFrom]: from,
    [ATTRIBUTE.vehicle]: data.vehicle,
    [ATTRIBUTE.session]: data.session,
  };
  if (data.window !== null) attributes[ATTRIBUTE.window] = data.window;
  const span = tracing.startSpan({
    name: HANDLE_SPAN,
    kind: 'consumer',
    startMs,
    parent: fields,
    attributes,
  });
  const sentMs = parseRequestStart(headers[REQUEST_START]);
  if (sentMs !== undefined) span.mark('queue', sentMs, startMs);
  const endMs = tracing.nowMs();
  span.mark('compute', startMs, endMs);
  span.end(endMs);
}
