import type { Phase } from '../core/phases.ts';

/**
 * Names of spans and of their attributes: the semantic conventions' where they have one (checked against
 * their package in names.test.ts), our own below `tachograph.`. docs/tracing.md is their table.
 */

/** A vehicle's batch, from its intended send time to its final answer. By the load generator. */
export const BATCH_SPAN = 'batch';
/** One attempt of a vehicle to upload a batch, a child of the above. */
export const UPLOAD_SPAN = 'upload';
/** One attempt to bring an event or request to a stage, from its arrival before the replicas to the answer. */
export const DELIVER_SPAN = 'deliver';
/** One a stage and event or request, from its arrival in the process to its answer. */
export const HANDLE_SPAN = 'handle';

export const ATTRIBUTE = {
  // of the process
  serviceName: 'service.name',
  serviceNamespace: 'service.namespace',
  serviceVersion: 'service.version',
  serviceInstanceId: 'service.instance.id',
  processPid: 'process.pid',
  // of a request
  httpMethod: 'http.request.method',
  httpStatus: 'http.response.status_code',
  /** Of an upload: attempts before this one. */
  httpResendCount: 'http.request.resend_count',
  httpBodyBytes: 'http.request.body.size',
  urlPath: 'url.path',
  /** The code of our error table, or the status where there is none. */
  errorType: 'error.type',
  // of an event
  eventId: 'cloudevents.event_id',
  eventSource: 'cloudevents.event_source',
  eventType: 'cloudevents.event_type',
  eventSubject: 'cloudevents.event_subject',
  // of its transport
  /** `nats`. */
  messagingSystem: 'messaging.system',
  /** The Broker, `namespace/name`. */
  messagingDestination: 'messaging.destination.name',
  /** The Trigger. */
  messagingSubscription: 'messaging.destination.subscription.name',
  /** `deliver` or `handle`. */
  messagingOperation: 'messaging.operation.name',
  /** `receive` or `process`. */
  messagingOperationType: 'messaging.operation.type',
  messagingId: 'messaging.message.id',
  messagingBodyBytes: 'messaging.message.body.size',
  // of the function
  /** The stage: of a `deliver` span the one it leads to. */
  faasName: 'faas.name',
  /** The replica. */
  faasInstance: 'faas.instance',
  /** `pubsub` or `http`. */
  faasTrigger: 'faas.trigger',
  /** Of `handle`: the process's first event or request. Of `deliver`: no replica was ready. */
  coldStart: 'faas.coldstart',
  // of the store
  /** `sqlite` or `mongodb`. */
  dbSystem: 'db.system.name',
  // our own
  /** Calls of the store within the span. */
  storeCalls: 'tachograph.store.calls',
  /** `done`, `retry` or `parked`. */
  outcome: 'tachograph.outcome',
  /** Why it is parked, or to be tried again. */
  outcomeReason: 'tachograph.outcome.reason',
  /** What it announces was there already: an event or upload that came again. */
  duplicate: 'tachograph.duplicate',
  /** Where the parent was found: `header`, `extension`, `origin` or `none`. */
  parentFrom: 'tachograph.parent.from',
  /** Phases as marks (kernel/core/phases.ts). */
  phases: 'tachograph.phases',
  /** Parts of a cold start, as marks too. */
  coldStartParts: 'tachograph.coldstart.parts',
  /** Counts from 1, redeliveries after a lost acknowledgement too. */
  attempt: 'tachograph.delivery.attempt',
  /** `ack`, `retry`, `deadLetter` or `dropped`. */
  settlement: 'tachograph.delivery.settlement',
  /** It goes to the dead letter sink. */
  deadLetter: 'tachograph.delivery.dead_letter',
  /** Place in the stream. */
  streamSequence: 'tachograph.stream.sequence',
  vehicle: 'tachograph.vehicle',
  session: 'tachograph.session',
  seq: 'tachograph.seq',
  window: 'tachograph.window',
  /** Of a link to another batch of a window: ms between its reception and the window's closing. */
  windowWaitMs: 'tachograph.window.wait_ms',
} as const;

/** Sum of a phase's marks, for tools that know numbers only: `tachograph.phase.burnCpu_ms`. */
export const phaseAttribute = (phase: Phase): string => `tachograph.phase.${phase}_ms`;
