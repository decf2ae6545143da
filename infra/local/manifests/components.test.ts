import { expect, test } from 'vitest';
import { CATALOG } from '#eventing/contracts/catalog.ts';
import { parseTrigger } from '#eventing/dispatch/trigger-spec.ts';
import { serviceSink } from '#infra/local/sink-binding.ts';
import { readArm, readText } from './testing/read-text.ts';

/** Stages that a Trigger leads to: those that the components make Deployments of. */
const BEHIND_TRIGGERS = [
  ...new Set(
    CATALOG.filter(({ route }) => route === 'broker').flatMap(({ consumers }) => consumers),
  ),
].toSorted();

async function scalings(components: readonly string[]): Promise<Record<string, string>> {
  const { services } = await readArm(components);
  return Object.fromEntries(services.map(({ name, scaling }) => [name, scaling.policy]));
}

test('as-deployments: exactly the stages behind a Trigger are Deployments', async () => {
  const { services } = await readArm(['as-deployments']);
  const deployments = services.filter(({ kind }) => kind === 'Deployment');
  expect(deployments.map(({ name }) => name).toSorted()).toEqual(BEHIND_TRIGGERS);
  expect(services.filter(({ kind }) => kind === 'Service').map(({ name }) => name)).toEqual([
    'campaign',
    'device-communication',
  ]);
});

test('as-deployments: a Deployment runs what its Service ran, with the same limits', async () => {
  const before = new Map((await readArm([])).services.map((one) => [one.name, one]));
  for (const { name, ...after } of (await readArm(['as-deployments'])).services) {
    const service = before.get(name);
    expect(service).toMatchObject({
      entry: after.entry,
      namespace: after.namespace,
      labels: after.labels,
      podLabels: after.podLabels,
      resources: after.resources,
      terminationGraceMs: after.terminationGraceMs,
    });
    const own = new Set(['PORT', 'K_SERVICE']);
    expect(service?.env.map((variable) => variable.name)).toEqual(
      after.env.map((variable) => variable.name).filter((variable) => !own.has(variable)),
    );
  }
});

test('as-deployments: a Deployment is told what Knative tells a Service', async () => {
  const { services } = await readArm(['as-deployments']);
  for (const { kind, name, env } of services) {
    if (kind !== 'Deployment') continue;
    expect(env).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'PORT', value: '8080' }),
        expect.objectContaining({ name: 'K_SERVICE', value: name }),
      ]),
    );
  }
});

test('as-deployments: every Trigger leads to a core Service, dead letters too', async () => {
  const { triggers } = await readArm(['as-deployments']);
  expect(triggers.length).toBeGreaterThan(0);
  for (const manifest of triggers) {
    const { name, subscriber, delivery } = parseTrigger(manifest);
    expect(subscriber.ref, name).toMatchObject({ apiVersion: 'v1', kind: 'Service' });
    expect(delivery.deadLetterSink?.ref, name).toEqual(subscriber.ref);
    expect(BEHIND_TRIGGERS).toContain(subscriber.ref?.name);
  }
});

test('as-deployments: one SinkBinding for the Services, one for the Deployments', async () => {
  const { sinkBindings } = await readArm(['as-deployments']);
  const subjects = sinkBindings.map(({ spec }) => spec?.['subject']);
  expect(subjects).toMatchObject([
    { apiVersion: 'serving.knative.dev/v1', kind: 'Service' },
    { apiVersion: 'apps/v1', kind: 'Deployment' },
  ]);
});

// serviceSink refuses two bindings of one stage, so each is bound by exactly one.
test.each([
  [[]],
  [['scale-hpa']],
  [['as-deployments']],
  [['as-deployments', 'scale-keda']],
  [['as-deployments', 'scale-node']],
])('with the components %j every stage is bound to the Broker once', async (components) => {
  const { services, sinkBindings } = await readArm(components);
  const sinks = services.map((service) =>
    serviceSink(service, sinkBindings, ({ namespace, name }) => `${namespace}/${name}`),
  );
  expect(sinks).toEqual(Array.from({ length: 5 }, () => 'tachograph/default'));
});

const KPA = { campaign: 'kpa', 'device-communication': 'kpa' };

test.each([
  ['fixed', ['as-deployments'], KPA],
  ['keda', ['as-deployments', 'scale-keda'], KPA],
  ['node', ['as-deployments', 'scale-node'], KPA],
  ['hpa', ['scale-hpa'], { campaign: 'hpa', 'device-communication': 'hpa' }],
])('the arm %s is scaled by it', async (policy, components, faces) => {
  const expected = Object.fromEntries(BEHIND_TRIGGERS.map((stage) => [stage, policy]));
  expect(await scalings(components)).toEqual({ ...expected, ...faces });
});

test('scale-keda: no stage may have more replicas than its Service', async () => {
  const { services: knative } = await readArm([]);
  const { services } = await readArm(['as-deployments', 'scale-keda']);
  // The base's maximum: the local overlay's is for a small machine, and KEDA's objects are the cluster's too.
  const most: Record<string, number> = { 'data-provider': 5, 'data-processing': 10, export: 5 };
  expect(knative.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(most)));
  for (const { name, scaling } of services) {
    if (scaling.policy !== 'keda') continue;
    expect(scaling.config, name).toMatchObject({ minReplicaCount: 0, maxReplicaCount: most[name] });
  }
});

test('scale-node: the study’s bounds, and every Deployment follows the nodes', async () => {
  const { nodeScaler } = await readArm(['as-deployments', 'scale-node']);
  expect(nodeScaler).toMatchObject({
    upperThreshold: 0.8,
    lowerThreshold: 0.2,
    periodMs: 60_000,
    minNodes: 1,
    maxNodes: 4,
  });
  expect(nodeScaler?.services.map(({ name }) => name).toSorted()).toEqual(BEHIND_TRIGGERS);
});

test('scale-hpa: 80 % of the CPU request, at least one replica, the controller’s own windows', async () => {
  for (const { name, scaling, resources } of (await readArm(['scale-hpa'])).services) {
    expect(scaling, name).toMatchObject({
      policy: 'hpa',
      config: {
        minReplicas: 1,
        maxReplicas: 2,
        metrics: [{ kind: 'cpu', utilizationPercent: 80 }],
        cpuRequestMillis: resources.cpuRequestMillis,
        behavior: null,
      },
    });
  }
});

const POD = ['image', 'readinessProbe', 'securityContext'];
const ON_PODS = [...POD, 'name', 'ports'].toSorted();
const NATS = ['account', 'consumer', 'natsServerMonitoringEndpoint', 'stream'];

// Whole lists: a field that comes to be without effect is a decision, not an accident.
test.each([
  [[], POD, [], []],
  [['scale-hpa'], POD, [], []],
  [['as-deployments', 'scale-keda'], POD, ON_PODS, NATS],
  [['as-deployments', 'scale-node'], POD, ON_PODS, []],
])('with the components %j no other fields are without effect', async (names, own, pods, nats) => {
  const { inertFields } = await readArm(names);
  const container = 'spec.template.spec.containers[]';
  expect(inertFields.filter((field) => !/^(Broker|NatsJetStreamChannel) /.test(field))).toEqual([
    ...pods.map((field) => `Deployment ${container}.${field}`),
    ...nats.map((field) => `ScaledObject spec.triggers[].metadata.${field}`),
    ...(pods.length === 0 ? [] : ['Service spec.ports']),
    ...own.map((field) => `Service ${container}.${field}`),
  ]);
});

test('scalers without the Deployments they scale are refused', async () => {
  await expect(readArm(['scale-keda'])).rejects.toThrow(
    'scale-keda/scaled-objects.yaml:13: there is no Deployment "data-provider" to scale',
  );
  await expect(readArm(['scale-node'])).rejects.toThrow('there is no Deployment "data-provider"');
});

test('keda and node together would be two writers', async () => {
  await expect(readArm(['as-deployments', 'scale-keda', 'scale-node'])).rejects.toThrow(
    'is scaled by keda and node: two writers fight',
  );
});

// As kustomize 5.7 does it (tried with "kubectl kustomize"): a later patch finds what an earlier one has
// made of an object, and no longer what it was.
test('a patch after as-deployments finds the Deployment, not the Service it was', async () => {
  const patch = (target: string): string =>
    `[{target: ${target}, patch: "[{op: add, path: /metadata/labels/seen, value: here}]"}]`;
  const seen = async (target: string): Promise<string[]> => {
    const { services } = await readArm(['as-deployments'], patch(target));
    return services.filter(({ labels }) => labels['seen'] === 'here').map(({ name }) => name);
  };
  expect(await seen('{group: serving.knative.dev, kind: Service}')).toEqual([
    'campaign',
    'device-communication',
  ]);
  expect((await seen('{group: apps, kind: Deployment}')).toSorted()).toEqual(BEHIND_TRIGGERS);
});

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: work, annotations: {tachograph.io/entry: lab/stage.ts}}
spec:
  selector: {matchLabels: {app: work}}
  template:
    metadata: {labels: {app: work}}
    spec: {containers: [{name: a, image: a}]}
---
`;
const coreService = (name: string, selector: string): string => `
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: {selector: ${selector}}
`;

test.each([
  [
    'selects nothing of it',
    coreService('work', '{app: other}'),
    'lab/x.yaml:15: its selector does',
  ],
  ['selects nothing at all', coreService('work', '{}'), 'lab/x.yaml:15: its selector does'],
  [
    'is in another namespace',
    coreService('work, namespace: far', '{app: work}'),
    'lab/x.yaml:12: there is no Deployment "work" behind this Service',
  ],
  [
    'has no Deployment',
    coreService('other', '{app: work}'),
    'lab/x.yaml:12: there is no Deployment',
  ],
  [
    'is a Knative one of the same name',
    coreService('work', '{}')
      .replace('v1\nkind', 'serving.knative.dev/v1\nkind')
      .replace('{name: work}', '{name: work, annotations: {tachograph.io/entry: lab/stage.ts}}')
      .replace('{selector: {}}', '{template: {spec: {containers: [{image: a}]}}}'),
    'lab/x.yaml:2: there are a Service and a Deployment work',
  ],
])('a Service beside a Deployment that %s is refused', async (_, service, message) => {
  await expect(readText(DEPLOYMENT + service)).rejects.toThrow(message);
});
