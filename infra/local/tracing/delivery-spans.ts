import { brokerPath } from '#eventing/broker/broker-names.ts';
import type {
  DeliveryEnd,
  DeliverySpan,
  DeliveryStart,
  DeliveryTracing,
} from '#eventing/dispatch/delivery-tracing.ts';
import type { SendResult } from '#eventing/dispatch/event-sender.ts';
import { HopNotes } from '#eventing/dispatch/hop-notes.ts';
import type { Destination, TriggerSpec } from '#eventing/dispatch/trigger-spec.ts';
import { ATTRIBUTE, DELIVER_SPAN } from '#kernel/telemetry/names.ts';
import type { ProcessSpan, ProcessTracing } from '#kernel/telemetry/process-tracing.ts';
import { findParent } from '#kernel/telemetry/propagation.ts';
import type { AttributeValue } from '#kernel/telemetry/stage-telemetry.ts';
import { noteHop, type HopSpanContext } from './hop-span.ts';

/** A subscriber that is no Service: a program that watches, such as the load generator's sink. */
export const OBSERVER = 'sink';

/** `deliver` spans of the dispatcher, one for each attempt: siblings below the span that emitted. */
export function deliverySpans(tracing: ProcessTracing, context: HopSpanContext): DeliveryTracing {
  return {
    begin(start) {
      const { storedMs, headers, trace } = start.delivery;
      const startMs = tracing.nowMs();
      const extensions = {
        traceparent: headers['ce-traceparent'],
        tracestate: headers['ce-tracestate'],
        tachotrace: headers['ce-tachotrace'],
      };
      const parent = findParent(trace, extensions);
      const span = tracing.startSpan({
        name: DELIVER_SPAN,
        kind: 'client',
        startMs,
        parent: parent.fields,
        attributes: attributesOf(start, parent.from),
      });
      return new EventDeliverySpan({ span, startMs, storedMs, tracing, context });
    },
  };
}

interface Begun {
  readonly span: ProcessSpan;
  readonly startMs: number;
  readonly storedMs: number;
  readonly tracing: ProcessTracing;
  readonly context: HopSpanContext;
}

class EventDeliverySpan implements DeliverySpan {
  readonly headers: Readonly<Record<string, string>>;
  readonly hop: HopNotes;
  readonly #begun: Begun;

  constructor(begun: Begun) {
    this.#begun = begun;
    this.hop = new HopNotes(begun.context.toEpochMs);
    this.headers = { ...begun.span.place };
  }

  end(result: SendResult, end: DeliveryEnd): void {
    const { span, startMs, storedMs, tracing, context } = this.#begun;
    const { enteredMs } = this.hop;
    // From the stream's clock: one that is ahead of ours makes no wait, and no negative one.
    span.mark('stream', storedMs, enteredMs === undefined ? startMs : context.toEpochMs(enteredMs));
    noteHop(span, startMs, this.hop, context);
    span.set(ATTRIBUTE.settlement, end);
    if (result.kind === 'failure') span.fail('UNREACHABLE', result.detail);
    else {
      span.set(ATTRIBUTE.httpStatus, result.status);
      if (end !== 'ack') span.fail(String(result.status), `answered ${result.status}`);
    }
    span.end(tracing.nowMs());
  }
}

function attributesOf(
  { spec, delivery, isDeadLetter }: DeliveryStart,
  parentFrom: string,
): Record<string, AttributeValue> {
  const { headers, sequence, attempt, body } = delivery;
  const attributes: Record<string, AttributeValue> = {
    [ATTRIBUTE.messagingSystem]: 'nats',
    [ATTRIBUTE.messagingDestination]: brokerPath(spec.broker),
    [ATTRIBUTE.messagingSubscription]: spec.name,
    [ATTRIBUTE.messagingOperation]: DELIVER_SPAN,
    [ATTRIBUTE.messagingOperationType]: 'receive',
    [ATTRIBUTE.messagingBodyBytes]: body.length,
    [ATTRIBUTE.faasName]: subscriberName(spec, isDeadLetter),
    [ATTRIBUTE.faasTrigger]: 'pubsub',
    [ATTRIBUTE.attempt]: attempt,
    [ATTRIBUTE.deadLetter]: isDeadLetter,
    [ATTRIBUTE.streamSequence]: sequence,
    [ATTRIBUTE.parentFrom]: parentFrom,
  };
  const ofEvent = [
    [ATTRIBUTE.messagingId, 'ce-id'],
    [ATTRIBUTE.eventId, 'ce-id'],
    [ATTRIBUTE.eventSource, 'ce-source'],
    [ATTRIBUTE.eventType, 'ce-type'],
    [ATTRIBUTE.eventSubject, 'ce-subject'],
  ] as const;
  for (const [name, header] of ofEvent) {
    const value = headers[header];
    if (value !== undefined) attributes[name] = value;
  }
  return attributes;
}

function subscriberName({ subscriber, delivery }: TriggerSpec, isDeadLetter: boolean): string {
  const destination: Destination = isDeadLetter ? (delivery.deadLetterSink ?? {}) : subscriber;
  return destination.ref?.name ?? OBSERVER;
}
