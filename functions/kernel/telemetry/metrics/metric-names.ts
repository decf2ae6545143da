/**
 * Metrics and their attributes: the semantic conventions' names where they have one (checked against
 * their package in metric-names.test.ts), our own below `tachograph.`. docs/metrics-endpoint.md is their
 * table.
 */
export interface MetricRow {
  readonly name: string;
  /** UCUM: `s`, `By`, `1`, `{event}`. */
  readonly unit: string;
  readonly about: string;
  readonly kind: 'counter' | 'upDown' | 'gauge' | 'histogram';
}

const row = (kind: MetricRow['kind'], name: string, unit: string, about: string): MetricRow => ({
  kind,
  name,
  unit,
  about,
});

export const METRIC = {
  // of a stage's process
  httpDuration: row(
    'histogram',
    'http.server.request.duration',
    's',
    'Requests by method, route and status, from the first byte to the answer',
  ),
  httpActive: row('upDown', 'http.server.active_requests', '{request}', 'Requests under way'),
  processDuration: row(
    'histogram',
    'messaging.process.duration',
    's',
    'Handlings of events, by type and outcome',
  ),
  publishDuration: row(
    'histogram',
    'messaging.client.operation.duration',
    's',
    'Emissions, from the call until the sink has taken the event',
  ),
  coldStarts: row('counter', 'faas.coldstarts', '{coldstart}', 'Starts of the process: 1'),
  initDuration: row(
    'histogram',
    'faas.init_duration',
    's',
    'From the begin of the process until it listens',
  ),
  storeDuration: row(
    'histogram',
    'db.client.operation.duration',
    's',
    'Calls of the store, by operation and collection',
  ),
  cpuTime: row('counter', 'process.cpu.time', 's', 'CPU time, by mode'),
  memory: row('upDown', 'process.memory.usage', 'By', 'Memory in use'),
  parked: row('counter', 'tachograph.events.parked', '{event}', 'Events set aside, by reason'),
  duplicates: row(
    'counter',
    'tachograph.events.duplicate',
    '{event}',
    'Announced facts that were there already',
  ),
  burstCpu: row('counter', 'tachograph.burst.cpu.time', 's', "CPU time of the demand's bursts"),
  burstError: row(
    'histogram',
    'tachograph.burst.error',
    '1',
    'Of bursts of CPU time: how far from the asked one, as a share of it',
  ),
  burstQueue: row('gauge', 'tachograph.burst.queue', '{burst}', 'Bursts that wait for a burner'),
  spansDropped: row(
    'counter',
    'tachograph.spans.dropped',
    '{span}',
    'Spans that reached no collector',
  ),
  // of the local cluster
  replicas: row('gauge', 'tachograph.replicas', '{replica}', 'Replicas, by stage and state'),
  requestsQueued: row(
    'gauge',
    'tachograph.requests.queued',
    '{request}',
    'Waiting in the activator and in queue-proxies, by stage',
  ),
  requestsActive: row(
    'gauge',
    'tachograph.requests.active',
    '{request}',
    'At work in functions, by stage',
  ),
  replicaStarts: row(
    'counter',
    'tachograph.replica.starts',
    '{start}',
    'Processes that became ready, by stage',
  ),
  replicaStartDuration: row(
    'histogram',
    'tachograph.replica.start.duration',
    's',
    'From the decision until the replica takes requests, by stage',
  ),
  delivered: row('counter', 'tachograph.trigger.delivered', '{event}', 'Events delivered'),
  retried: row('counter', 'tachograph.trigger.retried', '{event}', 'Attempts that are repeated'),
  deadLettered: row(
    'counter',
    'tachograph.trigger.dead_lettered',
    '{event}',
    'Events given up, to the dead letter sink',
  ),
  dropped: row(
    'counter',
    'tachograph.trigger.dropped',
    '{event}',
    'Events given up where there is no dead letter sink',
  ),
  redelivered: row(
    'counter',
    'tachograph.trigger.redelivered',
    '{event}',
    'Handed out again although nobody had asked for it',
  ),
  deliveriesActive: row('gauge', 'tachograph.trigger.in_flight', '{event}', 'Deliveries under way'),
  backlog: row('gauge', 'tachograph.trigger.pending', '{event}', 'Events not finished'),
  accepted: row('counter', 'tachograph.ingress.accepted', '{event}', 'Events the broker took'),
  refused: row('counter', 'tachograph.ingress.refused', '{event}', 'Events the broker refused'),
} as const satisfies Record<string, MetricRow>;

export const METRIC_ATTRIBUTE = {
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  errorType: 'error.type',
  eventType: 'cloudevents.event_type',
  operation: 'messaging.operation.name',
  outcome: 'tachograph.outcome',
  reason: 'tachograph.outcome.reason',
  dbSystem: 'db.system.name',
  dbOperation: 'db.operation.name',
  dbCollection: 'db.collection.name',
  cpuMode: 'cpu.mode',
  stage: 'faas.name',
  state: 'tachograph.replica.state',
  trigger: 'messaging.destination.subscription.name',
  /** A series that had no room: the convention of the SDK. */
  overflow: 'otel.metric.overflow',
} as const;

/** Seconds; the boundaries that the convention of HTTP advises, and a slow cold start beyond. */
export const SECONDS_BOUNDARIES: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
  30,
];

/** Shares: a burner is right to a per mille. */
export const SHARE_BOUNDARIES: readonly number[] = [
  -0.1, -0.05, -0.02, -0.01, -0.005, -0.002, 0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
];
