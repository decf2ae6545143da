import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { ServiceStatus } from '#infra/local/replicas/pool-workload.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { ClusterMetrics } from './cluster-metrics.ts';
import { mergeText } from './merge-text.ts';
import { metricsPage } from './metrics-page.ts';
import { scrapeReplicas } from './scrape-replicas.ts';

const text = (instance: string, value: number) =>
  `# HELP a_total Things\n# TYPE a_total counter\na_total{instance="${instance}"} ${value}\n` +
  `# TYPE b gauge\nb{instance="${instance}"} 1\n# EOF\n`;

test('mergeText: each family once, with the samples of all', () => {
  expect(mergeText([text('x', 1), text('y', 2)])).toBe(
    '# HELP a_total Things\n# TYPE a_total counter\n' +
      'a_total{instance="x"} 1\na_total{instance="y"} 2\n' +
      '# TYPE b gauge\nb{instance="x"} 1\nb{instance="y"} 1\n',
  );
});

test.each([[[]], [['']], [['nonsense\n# a comment\n']]])('mergeText of %j is empty', (texts) => {
  expect(mergeText(texts)).toBe('');
});

const replica = (name: string, port: number, phase = 'ready') =>
  ({ name, phase, node: null, pid: 1, address: { port }, restarts: 0 }) as unknown;
const service = (...replicas: readonly unknown[]) =>
  ({ name: 'export', replicas }) as unknown as ServiceStatus;

test('scrapeReplicas asks those that are ready, and leaves out who does not answer properly', async () => {
  const answers = { '/metrics': 0 };
  const good = createServer((request, response) => {
    answers['/metrics'] += request.url === '/metrics' ? 1 : 0;
    response.end('ok\n');
  });
  const bad = createServer((_, response) => response.writeHead(503).end('no'));
  const gone = createServer();
  const ports = await Promise.all(
    [good, bad, gone].map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  await new Promise((resolve) => gone.close(resolve));
  const [goodPort = 0, badPort = 0, gonePort = 0] = ports;
  const texts = await scrapeReplicas([
    service(
      replica('export-0', goodPort),
      replica('export-1', badPort),
      replica('export-2', gonePort),
      replica('export-3', goodPort, 'launching'),
    ),
  ]);
  expect(texts).toEqual(['ok\n']);
  expect(answers['/metrics']).toBe(1);
  for (const server of [good, bad]) await new Promise((resolve) => server.close(resolve));
});

test('the page: replicas by state, queues, deliveries, starts of the cluster', async () => {
  const metrics = new ClusterMetrics();
  metrics.noteStart('export', {
    replica: 'export-0',
    decidedMs: 100,
    spawnedMs: 110,
    bootedMs: null,
    loadedMs: null,
    listeningMs: 160,
    readyMs: 170,
  });
  const trigger = {
    delivered: 5,
    retried: 2,
    deadLettered: 1,
    dropped: 0,
    duplicates: 0,
    inFlight: 3,
    pending: 4,
  };
  const eventing = {
    ingress: { accepted: 9, duplicates: 0, refused: 1 },
    triggers: { windows: trigger },
  };
  const page = await metricsPage(
    metrics,
    {
      services: [service(replica('export-1', 1, 'launching'), replica('export-2', 1, 'draining'))],
      scaling: { export: { desired: 2 } },
      paths: [{ name: 'export', queued: 7, inFlight: 1 }],
      eventing: { stats: async () => eventing },
      spansDropped: 6,
    },
    new VirtualClock(1_000),
  );
  const value = (start: string): string | undefined =>
    page
      .split('\n')
      .find((line) => line.startsWith(start))
      ?.split(' ')
      .at(-1);
  const state = (name: string) =>
    value(`tachograph_replicas{faas_name="export",tachograph_replica_state="${name}"`);
  expect([state('launching'), state('draining'), state('ready'), state('desired')]).toEqual([
    '1',
    '1',
    '0',
    '2',
  ]);
  expect(value('tachograph_requests_queued{faas_name="export"')).toBe('7');
  const label = '{messaging_destination_subscription_name="windows"';
  expect(value(`tachograph_trigger_retried_total${label}`)).toBe('2');
  expect(value(`tachograph_trigger_dead_lettered_total${label}`)).toBe('1');
  expect(value(`tachograph_trigger_pending${label}`)).toBe('4');
  expect(value('tachograph_ingress_accepted_total{')).toBe('9');
  expect(value('tachograph_spans_dropped_total{')).toBe('6');
  expect(value('tachograph_replica_start_duration_sum{faas_name="export"')).toBe('0.07');
});
