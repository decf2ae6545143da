import {
  METRIC,
  METRIC_ATTRIBUTE,
  type MetricRow,
} from '#kernel/telemetry/metrics/metric-names.ts';
import type { KnativeMetric } from './knative-metrics.ts';

/** A metric of ours as Prometheus has it: `http.server.active_requests` → `http_server_active_requests`. */
export const promName = ({ name, kind }: MetricRow): string =>
  `${name.replaceAll('.', '_')}${kind === 'counter' ? '_total' : ''}`;

/** An attribute as a label. */
export const label = (name: string): string => name.replaceAll('.', '_');

interface Query {
  readonly expr: string;
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  /** Grafana's name: `s`, `short`, `percentunit`, `reqps`. */
  readonly unit: string;
  readonly queries: readonly Query[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const SERVICE = 'service_name';

/** A histogram's quantile over the last minute, by labels. */
const quantile = (p: number, name: string, by: string): string =>
  `histogram_quantile(${p}, sum by (le, ${by}) (rate(${name}_bucket[1m])))`;

const rate = (metric: MetricRow, by: string, filter = ''): string =>
  `sum by (${by}) (rate(${promName(metric)}${filter}[1m]))`;

const quantiles = (name: string, by: string): readonly Query[] =>
  [0.5, 0.95, 0.99].map((p) => ({
    expr: quantile(p, name, by),
    legend: `p${p * 100} {{${by}}}`,
  }));

/** Of all values of a histogram since the processes began. */
const mean = (metric: MetricRow): string => {
  const name = promName(metric);
  return `sum by (${SERVICE}) (${name}_sum) / sum by (${SERVICE}) (${name}_count)`;
};

/** Requests a second whose route matches, by stage and status. */
const answered = (route: string): string =>
  `sum by (${SERVICE}, http_response_status_code) ` +
  `(rate(${promName(METRIC.httpDuration)}_count{http_route=~"${route}"}[1m]))`;

/** Processes that were not there a minute before: a counter that begins at 1 has no increase to ask for. */
const started = (metric: MetricRow): string => {
  const seen = `last_over_time(${promName(metric)}[1m]`;
  return `count by (${SERVICE}) (${seen}) unless ${seen} offset 1m))`;
};

const knative = (metric: KnativeMetric, by: string): string => `sum by (${by}) (${metric})`;
const REVISION = 'kn_configuration_name';
const outcome = label(METRIC_ATTRIBUTE.outcome);

/** What there is to see, by question. */
export const ROWS: readonly Row[] = [
  {
    title: 'Pipeline overview',
    panels: [
      {
        title: 'Events handled',
        unit: 'reqps',
        queries: [
          {
            expr: `sum by (${SERVICE}, ${outcome}) (rate(${promName(METRIC.processDuration)}_count[1m]))`,
            legend: `{{${SERVICE}}} {{${outcome}}}`,
          },
        ],
      },
      {
        title: 'Handling time',
        unit: 's',
        queries: quantiles(promName(METRIC.processDuration), SERVICE),
      },
      {
        title: 'Uploads and other requests',
        unit: 'reqps',
        queries: [
          {
            expr: answered('/v1/.*'),
            legend: `{{${SERVICE}}} {{http_response_status_code}}`,
          },
        ],
      },
      {
        title: 'Calls of the store, p95',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, promName(METRIC.storeDuration), `${SERVICE}, db_operation_name`),
            legend: `{{${SERVICE}}} {{db_operation_name}}`,
          },
        ],
      },
      {
        title: 'Events set aside, by reason',
        unit: 'short',
        queries: [
          {
            expr: rate(METRIC.parked, `${SERVICE}, tachograph_outcome_reason`),
            legend: `{{${SERVICE}}} {{tachograph_outcome_reason}}`,
          },
        ],
      },
      {
        title: 'Error of emulated demands, p95',
        unit: 'percentunit',
        queries: [
          {
            expr: quantile(0.95, promName(METRIC.burstError), SERVICE),
            legend: `{{${SERVICE}}}`,
          },
        ],
      },
    ],
  },
  {
    title: 'Autoscaling',
    panels: [
      {
        title: 'Replicas: wanted and there',
        unit: 'short',
        queries: [
          { expr: knative('kn_revision_pods_desired', REVISION), legend: `wanted {{${REVISION}}}` },
          { expr: knative('kn_revision_pods_count', REVISION), legend: `there {{${REVISION}}}` },
        ],
      },
      {
        title: 'Concurrency: stable, panic, target',
        unit: 'short',
        queries: [
          {
            expr: knative('kn_revision_concurrency_stable', REVISION),
            legend: `stable {{${REVISION}}}`,
          },
          {
            expr: knative('kn_revision_concurrency_panic', REVISION),
            legend: `panic {{${REVISION}}}`,
          },
          {
            expr: knative('kn_revision_concurrency_target', REVISION),
            legend: `target {{${REVISION}}}`,
          },
        ],
      },
      {
        title: 'Panic mode',
        unit: 'short',
        queries: [{ expr: knative('kn_revision_panic_mode', REVISION), legend: `{{${REVISION}}}` }],
      },
      {
        title: 'CPU time, cores',
        unit: 'short',
        queries: [{ expr: rate(METRIC.cpuTime, SERVICE), legend: `{{${SERVICE}}}` }],
      },
    ],
  },
  {
    title: 'Cold starts',
    panels: [
      {
        title: 'Starts within a minute',
        unit: 'short',
        queries: [{ expr: started(METRIC.coldStarts), legend: `{{${SERVICE}}}` }],
      },
      {
        title: 'From the process until it listens',
        unit: 's',
        queries: [
          {
            expr: mean(METRIC.initDuration),
            legend: `mean {{${SERVICE}}}`,
          },
        ],
      },
      {
        title: 'Waiting in the activator',
        unit: 'short',
        queries: [
          {
            expr: knative('kn_revision_request_queued', 'kn_revision_name'),
            legend: '{{kn_revision_name}}',
          },
        ],
      },
      {
        // Set when a request comes, and not when one goes.
        title: 'At work and waiting in queue-proxies, at the last request',
        unit: 'short',
        queries: [{ expr: knative('kn_serving_queue_depth', REVISION), legend: `{{${REVISION}}}` }],
      },
    ],
  },
  {
    title: 'Broker',
    panels: [
      {
        title: 'Dispatches: into the channel, to a subscriber',
        unit: 's',
        queries: quantiles('kn_eventing_dispatch_duration_seconds', 'messaging_destination_name'),
      },
      {
        title: 'Emissions of the stages',
        unit: 's',
        queries: quantiles(promName(METRIC.publishDuration), SERVICE),
      },
      {
        title: 'Events that came again',
        unit: 'short',
        queries: [{ expr: rate(METRIC.duplicates, SERVICE), legend: `{{${SERVICE}}}` }],
      },
      {
        title: 'Spans dropped by the stages',
        unit: 'short',
        queries: [{ expr: rate(METRIC.spansDropped, SERVICE), legend: `{{${SERVICE}}}` }],
      },
    ],
  },
];

const COLUMNS = 24;
const WIDTH = 8;
const HEIGHT = 8;

/** The dashboard as Grafana reads it. */
export function dashboard(): object {
  const panels: object[] = [];
  let y = 0;
  for (const row of ROWS) {
    panels.push({
      type: 'row',
      id: panels.length + 1,
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, panel] of row.panels.entries()) {
      const x = (index * WIDTH) % COLUMNS;
      const down = Math.floor((index * WIDTH) / COLUMNS) * HEIGHT;
      panels.push({
        ...panelOf(panel, panels.length + 1),
        gridPos: { x, y: y + down, w: WIDTH, h: HEIGHT },
      });
    }
    y += Math.ceil((row.panels.length * WIDTH) / COLUMNS) * HEIGHT;
  }
  return {
    uid: 'tachograph',
    title: 'Tachograph',
    tags: ['tachograph'],
    timezone: 'utc',
    schemaVersion: 41,
    version: 1,
    editable: false,
    refresh: '5s',
    time: { from: 'now-15m', to: 'now' },
    panels,
  };
}

const SOURCE = { type: 'prometheus', uid: 'prometheus' } as const;

const panelOf = ({ title, unit, queries }: Panel, id: number): object => ({
  type: 'timeseries',
  id,
  title,
  datasource: SOURCE,
  fieldConfig: { defaults: { unit, min: unit === 'percentunit' ? undefined : 0 }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  targets: queries.map(({ expr, legend }, index) => ({
    refId: String.fromCodePoint(65 + index),
    datasource: SOURCE,
    expr,
    legendFormat: legend,
  })),
});

/** The ConfigMap that Grafana's pod mounts (infra/kubernetes/components/monitoring/dashboards.yaml). */
export function dashboardManifest(): string {
  const json = JSON.stringify(dashboard(), undefined, 2);
  const indented = json.split('\n').map((line) => `    ${line}`);
  return [
    '# Made from infra/kubernetes/dashboards/dashboard.ts; its test says how to make it anew.',
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata:',
    '  name: grafana-dashboards',
    '  namespace: tachograph-observability',
    '  labels:',
    '    app.kubernetes.io/name: grafana',
    '    app.kubernetes.io/part-of: tachograph',
    'data:',
    '  tachograph.json: |',
    ...indented,
    '',
  ].join('\n');
}
