import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CATALOG } from '#eventing/contracts/catalog.ts';
import { checkTrigger, readPipeline } from './pipeline-manifests.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const stages = new Set(CATALOG.flatMap(({ consumers }) => consumers)).add('campaign');

test("the repository's local overlay has one replica of every stage of the catalogue", async () => {
  const pipeline = await readPipeline(root, 'infra/kubernetes/overlays/local');
  const names = pipeline.services.map(({ name }) => name);
  expect(names.toSorted()).toEqual([...stages].toSorted());
  for (const { name, entry, namespace, replicas } of pipeline.services) {
    const expected = { namespace: 'tachograph', replicas: 1 };
    expect({ namespace, replicas }).toEqual(expected);
    expect(entry).toBe(`functions/${name}/main.ts`);
  }
  expect(pipeline.brokers).toHaveLength(1);
  expect(pipeline.sinkBindings).toHaveLength(1);
  expect(pipeline.pingSources).toHaveLength(1);
});

test('without the local overlay the stages may go to zero, within a stated maximum', async () => {
  const { inertFields } = await readPipeline(root, 'infra/kubernetes/base');
  expect(inertFields).toContain(
    'Service spec.template.metadata.annotations.autoscaling.knative.dev/max-scale',
  );
});

test('only stages that need the engineers’ token are given its hash', async () => {
  const { services } = await readPipeline(root, 'infra/kubernetes/base');
  const given = services.filter(({ env }) =>
    env.some(({ name }) => name === 'ENGINEER_TOKEN_SHA256'),
  );
  expect(given.map(({ name }) => name)).toEqual(['campaign', 'export']);
});

test('a delivery waits no longer than the stage may take to answer', async () => {
  const { services, triggers } = await readPipeline(root, 'infra/kubernetes/base');
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
