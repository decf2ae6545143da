import { expect, test } from 'vitest';
import { METRIC } from '#kernel/telemetry/metrics/metric-names.ts';
import { dashboard, dashboardManifest, promName, ROWS } from './dashboard.ts';
import { KNATIVE_METRICS } from './knative-metrics.ts';

// Made anew by: vitest run infra/kubernetes/dashboards --update=all
test('the ConfigMap is the one that the code makes', async () => {
  await expect(dashboardManifest()).toMatchFileSnapshot('../components/monitoring/dashboards.yaml');
});

const known = new Set<string>(KNATIVE_METRICS);
for (const metric of Object.values(METRIC)) known.add(promName(metric));
const SUFFIX = /_(bucket|sum|count)$/;
const WORDS = new Set(
  'sum by rate count histogram_quantile le last_over_time unless offset'.split(' '),
);

/** Names of metrics in a query: what stands before a label matcher, a range or a bracket. */
function metricsOf(expr: string): readonly string[] {
  const bare = expr.replaceAll(/by \([^)]*\)/g, '').replaceAll(/\{[^}]*\}/g, '');
  return [...bare.matchAll(/[a-z][a-z0-9_]{3,}/g)]
    .map(([name]) => name)
    .filter((name) => !WORDS.has(name));
}

test.each(
  ROWS.flatMap(({ panels }) =>
    panels.flatMap(({ title, queries }) => queries.map(({ expr }) => [title, expr] as const)),
  ),
)('%s asks for metrics that there are: %s', (_, expr) => {
  const names = metricsOf(expr);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    expect(known.has(name) || known.has(name.replace(SUFFIX, '')), name).toBe(true);
  }
  expect((expr.match(/\(/g) ?? []).length).toBe((expr.match(/\)/g) ?? []).length);
});

test('a metric that nobody has is noticed', () => {
  expect(metricsOf('sum by (a) (rate(no_such_metric_total[1m]))')).toEqual([
    'no_such_metric_total',
  ]);
  expect(known.has('no_such_metric_total')).toBe(false);
});

test('the rows are the overview, autoscaling, cold starts, the broker; panels do not overlap', () => {
  expect(ROWS.map(({ title }) => title)).toEqual([
    'Pipeline overview',
    'Autoscaling',
    'Cold starts',
    'Broker',
  ]);
  const { panels } = dashboard() as {
    panels: readonly { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
  };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
});
