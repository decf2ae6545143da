import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CATALOG } from '#eventing/contracts/catalog.ts';
import { parseTrigger } from '#eventing/dispatch/trigger-spec.ts';
import { nodeAt } from './located-node.ts';
import { checkTrigger, readPipeline, type PipelineManifests } from './pipeline-manifests.ts';
import { readLabels } from './service-manifest.ts';
import { readText } from './testing/read-text.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const BASE = 'infra/kubernetes/base';
const LOCAL = 'infra/kubernetes/overlays/local';
const stages = new Set(CATALOG.flatMap(({ consumers }) => consumers)).add('campaign');

test("the repository's local overlay has every stage of the catalogue, from zero and soon back to it", async () => {
  const pipeline = await readPipeline(root, LOCAL);
  const names = pipeline.services.map(({ name }) => name);
  expect(names.toSorted()).toEqual([...stages].toSorted());
  for (const { name, entry, namespace, scaling } of pipeline.services) {
    expect({ entry, namespace }).toEqual({
      entry: `functions/${name}/main.ts`,
      namespace: 'tachograph',
    });
    expect(scaling, name).toMatchObject({
      policy: 'kpa',
      config: {
        initialScale: 0,
        minScale: 0,
        maxScale: 2,
        stableWindowMs: 6_000,
        scaleToZeroGracePeriodMs: 2_000,
      },
    });
  }
  expect(pipeline.brokers).toHaveLength(1);
  expect(pipeline.sinkBindings).toHaveLength(1);
  expect(pipeline.pingSources).toHaveLength(1);
});

// What a stage says of its scaling, it says itself: a default that changes upstream must change nothing here.
const EXPLICIT = [
  'class',
  'metric',
  'target',
  'target-utilization-percentage',
  'target-burst-capacity',
  'window',
  'scale-down-delay',
  'initial-scale',
  'min-scale',
  'max-scale',
].map((name) => `autoscaling.knative.dev/${name}`);

test('every stage names its own figures, may go to zero, and has a maximum', async () => {
  const { services, inertFields } = await readPipeline(root, BASE);
  for (const { name, node, scaling, containerConcurrency } of services) {
    const template = nodeAt(node, 'spec', 'template', 'metadata', 'annotations');
    const annotations = readLabels(template, 'annotation');
    expect(Object.keys(annotations).toSorted(), name).toEqual(EXPLICIT.toSorted());
    expect(scaling, name).toMatchObject({
      policy: 'kpa',
      config: { minScale: 0, totalPerReplica: containerConcurrency },
    });
    expect(scaling.policy === 'kpa' && scaling.config.maxScale, name).toBeGreaterThan(0);
    // One request at a stage must not ask for two replicas.
    expect(scaling.policy === 'kpa' && scaling.config.targetPerReplica, name).toBeGreaterThan(1);
  }
  expect(inertFields.filter((field) => field.includes('autoscaling'))).toEqual([]);
});

test('every stage says what a replica requests and how much memory it may have', async () => {
  const { services } = await readPipeline(root, BASE);
  for (const { name, resources } of services) {
    expect(resources.cpuRequestMillis, name).toBeGreaterThan(0);
    expect(resources.memoryRequestBytes, name).toBeGreaterThan(0);
    expect(resources.memoryLimitBytes, name).toBeGreaterThan(resources.memoryRequestBytes ?? 0);
    // A quota throttles a short burst of work that a free core could do.
    expect(resources.cpuLimitMillis, name).toBeNull();
  }
});

/** Deliveries that all Triggers of a stage may have under way. */
function inFlightOf({ triggers }: PipelineManifests, stage: string): number {
  const own = triggers.map((manifest) => parseTrigger(manifest));
  return own
    .filter(({ subscriber }) => subscriber.ref?.name === stage)
    .reduce((sum, { maxInFlight }) => sum + maxInFlight, 0);
}

const BEHIND_TRIGGERS = ['data-provider', 'data-processing', 'export'];

// Above what the replicas take, cancelled deliveries keep the queues full for ever; far below, the
// autoscaler never sees that more replicas are needed.
test.each([BASE, LOCAL])(
  '%s: what is under way fits the replicas that there may be',
  async (path) => {
    const pipeline = await readPipeline(root, path);
    for (const stage of BEHIND_TRIGGERS) {
      const service = pipeline.services.find(({ name }) => name === stage);
      const { scaling, containerConcurrency = 0 } = service ?? {};
      const maxScale = scaling?.policy === 'kpa' ? (scaling.config.maxScale ?? 0) : 0;
      const inFlight = inFlightOf(pipeline, stage);
      expect(inFlight, stage).toBeLessThanOrEqual(maxScale * containerConcurrency);
      // The channel's maxAckPending.
      const wanted = Math.min(20, maxScale * containerConcurrency) / 2;
      if (stage !== 'data-provider') expect(inFlight, stage).toBeGreaterThanOrEqual(wanted);
    }
  },
);

test('only stages that need the engineers’ token are given its hash', async () => {
  const { services } = await readPipeline(root, BASE);
  const given = services.filter(({ env }) =>
    env.some(({ name }) => name === 'ENGINEER_TOKEN_SHA256'),
  );
  expect(given.map(({ name }) => name)).toEqual(['campaign', 'export']);
});

test('a delivery waits no longer than the stage may take to answer', async () => {
  const { services, triggers } = await readPipeline(root, BASE);
  expect(triggers.length).toBeGreaterThan(0);
  for (const { metadata, spec } of triggers) {
    const { delivery, subscriber } = spec as {
      delivery: { timeout: string };
      subscriber: { ref: { name: string } };
    };
    const service = services.find(({ name }) => name === subscriber.ref.name);
    const seconds = Number(/^PT(\d+)S$/.exec(delivery.timeout)?.[1]);
    expect(service?.timeoutMs, metadata.name).toBeGreaterThanOrEqual(seconds * 1_000);
  }
});

test('readPipeline of an unknown overlay throws and names it', async () => {
  await expect(readPipeline(root, 'infra/kubernetes/nowhere')).rejects.toThrow(
    '"infra/kubernetes/nowhere" does not exist',
  );
});

test('readPipeline with a folder for a program throws where it is named', async () => {
  const text = [
    'apiVersion: serving.knative.dev/v1',
    'kind: Service',
    'metadata: {name: work, annotations: {tachograph.io/entry: functions}}',
    'spec: {template: {spec: {containers: [{image: a}]}}}',
  ].join('\n');
  await expect(readText(text)).rejects.toThrow('lab/x.yaml:3: "functions" is a folder, not a file');
});

const trigger = {
  apiVersion: 'eventing.knative.dev/v1',
  kind: 'Trigger',
  metadata: { name: 't', namespace: 'lab' },
  spec: { broker: 'default', subscriber: { uri: 'http://127.0.0.1:1/' } },
};

test('checkTrigger takes a Trigger and refuses what is none or has unknown fields', () => {
  expect(checkTrigger(trigger).metadata.name).toBe('t');
  expect(() => checkTrigger({ ...trigger, kind: 'Broker' })).toThrow('this is no Trigger');
  expect(() => checkTrigger({ ...trigger, metadata: {} })).toThrow('no metadata.name');
  expect(() => checkTrigger({ ...trigger, extra: 1 })).toThrow('field extra of a Trigger');
  expect(() => checkTrigger([])).toThrow('a Trigger is a map');
});
