import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { buildKustomization } from '#infra/local/manifests/kustomize.ts';
import { plainValue } from '#infra/local/manifests/located-node.ts';
import { manifestFiles } from '#infra/local/manifests/manifest-files.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data: Readonly<Record<string, string>>;
}

/** What stands at a path such as `spec.template.spec`; the caller says what it expects there. */
// oxlint-disable-next-line no-unnecessary-type-parameters -- a cast at each use would say the same
const get = <T>(value: unknown, path: string): T =>
  path
    .split('.')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value) as T;

type Named = { readonly name: string };
type Map = Readonly<Record<string, unknown>>;

const NAMESPACE = 'tachograph-observability';
const built = await buildKustomization(
  await manifestFiles(process.cwd()),
  'infra/kubernetes/overlays/observed',
);
const manifests = built.map((one) => plainValue(one) as unknown as Manifest);
const own = manifests.filter(({ metadata }) => metadata.namespace === NAMESPACE);
const named = (kind: string, name: string, namespace = NAMESPACE): Manifest => {
  const found = manifests.find(
    (one) =>
      one.kind === kind && one.metadata.name === name && one.metadata.namespace === namespace,
  );
  if (found === undefined) throw new Error(`there is no ${kind} ${namespace}/${name}`);
  return found;
};
const deployments = own.filter(({ kind }) => kind === 'Deployment');

test('what looks into the pipeline: collector, Jaeger, Prometheus, Grafana', () => {
  expect(deployments.map(({ metadata }) => metadata.name).toSorted()).toEqual([
    'grafana',
    'jaeger',
    'otel-collector',
    'prometheus',
  ]);
});

test.each(deployments.map((one) => [one.metadata.name, one] as const))(
  '%s: a pinned image, no root, a read-only root, no privilege, a memory limit, a probe',
  (_, manifest) => {
    const security = get<Map>(manifest, 'spec.template.spec.securityContext');
    expect(security).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(security['runAsUser']).toBeGreaterThan(0);
    for (const container of get<Map[]>(manifest, 'spec.template.spec.containers')) {
      expect(container['image']).toMatch(/^[a-z]+\/[a-z-]+:v?\d+\.\d+\.\d+$/);
      expect(get(container, 'resources.limits.memory')).toMatch(/^\d+Mi$/);
      expect(container['readinessProbe']).toBeDefined();
      expect(container['securityContext']).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  },
);

test.each(deployments.map((one) => [one.metadata.name, one] as const))(
  '%s: every reference leads to something that is there',
  (name, manifest) => {
    expect(get(manifest, 'spec.template.metadata.labels')).toMatchObject(
      get<Map>(manifest, 'spec.selector.matchLabels'),
    );
    const pod = get<Map>(manifest, 'spec.template.spec');
    const volumes = get<(Named & Map)[]>(pod, 'volumes');
    for (const volume of volumes) {
      const source = get<string | undefined>(volume, 'configMap.name');
      if (source === undefined) expect(get(volume, 'emptyDir.sizeLimit')).toBeDefined();
      else named('ConfigMap', source);
    }
    for (const mount of get<Map[]>(pod, 'containers.0.volumeMounts')) {
      const volume = volumes.find((one) => one.name === mount['name']);
      expect(volume, String(mount['name'])).toBeDefined();
      if (mount['subPath'] === undefined) continue;
      const { data } = named('ConfigMap', get(volume, 'configMap.name'));
      expect(Object.keys(data)).toContain(mount['subPath']);
    }
    if (pod['serviceAccountName'] === undefined) {
      expect(pod['automountServiceAccountToken']).toBe(false);
    } else named('ServiceAccount', get(pod, 'serviceAccountName'));
    const ports = get<Named[]>(pod, 'containers.0.ports').map((port) => port.name);
    for (const port of get<Map[]>(named('Service', name), 'spec.ports')) {
      expect(ports).toContain(port['targetPort']);
    }
  },
);

const configOf = (name: string, file: string): unknown =>
  parse(named('ConfigMap', name).data[file] ?? '');

test('the collector: each pipeline is made of parts that are configured, and ends at Jaeger', () => {
  const config = configOf('otel-collector', 'config.yaml');
  checkPipelines(config);
  expect(get<Map>(config, 'exporters')['otlp/jaeger']).toMatchObject({
    endpoint: `jaeger.${NAMESPACE}:4317`,
  });
  expect(get(config, 'processors.memory_limiter.limit_mib')).toBeLessThan(256);
});

test('Jaeger: its pipeline and its storage are configured', () => {
  const config = configOf('jaeger', 'config.yaml');
  checkPipelines(config);
  const backends = Object.keys(get<Map>(config, 'extensions.jaeger_storage.backends'));
  expect(backends).toContain(get(config, 'extensions.jaeger_query.storage.traces'));
  expect(backends).toContain(get(config, 'exporters.jaeger_storage_exporter.trace_storage'));
});

function checkPipelines(config: unknown): void {
  for (const pipeline of Object.values(get<Map>(config, 'service.pipelines'))) {
    for (const part of ['receivers', 'processors', 'exporters']) {
      const there = Object.keys(get<Map>(config, part));
      expect(there).toEqual(expect.arrayContaining(get<string[]>(pipeline, part)));
    }
  }
  const extensions = Object.keys(get<Map>(config, 'extensions'));
  expect(extensions).toEqual(expect.arrayContaining(get<string[]>(config, 'service.extensions')));
}

const portsOf = (name: string): readonly number[] =>
  get<{ port: number }[]>(named('Service', name), 'spec.ports').map(({ port }) => port);

test('every stage sends its spans to the collector, and leaves metrics to Prometheus', () => {
  const stages = manifests.filter(
    ({ apiVersion, kind }) => apiVersion === 'serving.knative.dev/v1' && kind === 'Service',
  );
  expect(stages).toHaveLength(5);
  for (const stage of stages) {
    const env = Object.fromEntries(
      get<{ name: string; value: string }[]>(stage, 'spec.template.spec.containers.0.env').map(
        ({ name, value }) => [name, value],
      ),
    );
    const url = new URL(env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '');
    expect(url.hostname).toBe(`otel-collector.${NAMESPACE}`);
    expect(portsOf('otel-collector')).toContain(Number(url.port));
    expect(env['OTEL_METRICS_EXPORTER']).toBe('none');
    // Its default is the loopback address, which Prometheus does not reach.
    expect(env['HOST']).toBe('0.0.0.0');
  }
});

test.each(['knative-serving', 'knative-eventing'])('%s sends its spans there too', (namespace) => {
  const { data } = named('ConfigMap', 'config-observability', namespace);
  expect(data).toMatchObject({
    'tracing-protocol': 'http/protobuf',
    'tracing-endpoint': `http://otel-collector.${NAMESPACE}:4318/v1/traces`,
    'metrics-protocol': 'prometheus',
    'tracing-sampling-rate': expect.stringMatching(/^0\.\d+$/),
  });
});

test('Prometheus: jobs with names of their own, and rights to look for pods alone', () => {
  const jobs = get<{ job_name: string }[]>(
    configOf('prometheus', 'prometheus.yml'),
    'scrape_configs',
  );
  expect(jobs.map((job) => job.job_name)).toEqual(['stages', 'queue-proxies', 'platform']);
  expect(manifests.find(({ kind }) => kind === 'ClusterRole')).toMatchObject({
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
  });
  // In the namespaces that it asks, and not in all of them.
  const asked = jobs.flatMap((job) =>
    get<Map[]>(job, 'kubernetes_sd_configs').flatMap((one) =>
      get<string[]>(one, 'namespaces.names'),
    ),
  );
  const bound = manifests.filter(({ kind }) => kind === 'RoleBinding');
  expect(bound.map(({ metadata }) => metadata.namespace ?? '').toSorted()).toEqual(
    [...new Set(asked)].toSorted(),
  );
  expect(manifests.some(({ kind }) => kind === 'ClusterRoleBinding')).toBe(false);
});

test('Grafana: its data sources are Services that are there', () => {
  const sources = get<{ url: string }[]>(configOf('grafana', 'datasources.yaml'), 'datasources');
  for (const { url } of sources) {
    const { hostname, port } = new URL(url);
    expect(portsOf(hostname.split('.')[0] ?? '')).toContain(Number(port));
  }
  const dashboards = named('ConfigMap', 'grafana-dashboards').data['tachograph.json'] ?? '';
  expect((JSON.parse(dashboards) as { title: string }).title).toBe('Tachograph');
});

test('network policies select pods that are there, and nothing is open to all', () => {
  const labels = deployments.map((one) => get<Map>(one, 'spec.template.metadata.labels'));
  const policies = own.filter(({ kind }) => kind === 'NetworkPolicy');
  for (const policy of policies) {
    const selected = get<Map>(policy, 'spec.podSelector.matchLabels');
    expect(labels).toContainEqual(expect.objectContaining(selected));
    for (const rule of get<{ from: unknown[]; ports: unknown[] }[] | undefined>(
      policy,
      'spec.ingress',
    ) ?? []) {
      expect(rule.from.length).toBeGreaterThan(0);
      expect(rule.ports.length).toBeGreaterThan(0);
    }
  }
  expect(policies).toHaveLength(deployments.length);
});
