/**
 * Names of spans and of their attributes: the semantic conventions' where they have one (checked against
 * their package in names.test.ts), our own below `tachograph.`.
 */

/** One a stage and event or request, from its arrival to its answer. */
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
  urlPath: 'url.path',
  /** The code of our error table, or the status where there is none. */
  errorType: 'error.type',
  // of an event
  eventId: 'cloudevents.event_id',
  eventSource: 'cloudevents.event_source',
  eventType: 'cloudevents.event_type',
  eventSubject: 'cloudevents.event_subject',
  /** The process's first event or request. */
  coldStart: 'faas.coldstart',
  /** `done`, `retry` or `parked`. */
  outcome: 'tachograph.outcome',
  /** Why it is parked, or to be tried again. */
  outcomeReason: 'tachograph.outcome.reason',
  /** Where the parent was found: `header`, `extension`, `origin` or `none`. */
  parentFrom: 'tachograph.parent.from',
} as const;
