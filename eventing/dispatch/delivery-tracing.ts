import type { Delivery } from '../broker/jetstream-broker.ts';
import type { SendResult } from './event-sender.ts';
import type { HopNotes } from './hop-notes.ts';
import type { TriggerSpec } from './trigger-spec.ts';

/** How an attempt ended for the event. */
export type DeliveryEnd = 'ack' | 'retry' | 'deadLetter' | 'dropped';

export interface DeliveryStart {
  readonly spec: TriggerSpec;
  readonly delivery: Delivery;
  /** To the dead letter sink, after the subscriber was given up. */
  readonly isDeadLetter: boolean;
}

/** The span of one attempt to deliver one event. */
export interface DeliverySpan {
  /** The headers by which the receiver's span continues it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hop: HopNotes;
  end(result: SendResult, end: DeliveryEnd): void;
}

/** Makes the spans of deliveries. There is none where nothing is traced. */
export interface DeliveryTracing {
  begin(start: DeliveryStart): DeliverySpan;
}
