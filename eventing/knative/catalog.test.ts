import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CATALOG } from '../contracts/catalog.ts';
import { parseChannelTemplate } from '../dispatch/channel-template.ts';
import type { TriggerSpec } from '../dispatch/trigger-spec.ts';
import { parseTrigger } from '../dispatch/trigger-spec.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly resources?: readonly string[];
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly config?: { readonly name: string };
    readonly sink?: { readonly ref: { readonly kind: string; readonly name: string } };
    readonly subject?: { readonly selector: { readonly matchLabels: Record<string, string> } };
  };
}

const HERE = new URL('./', import.meta.url);
const FUNCTIONS = new URL('../../functions/', import.meta.url);

async function manifestsOf(url: URL): Promise<Manifest[]> {
  const documents = parseAllDocuments(await readFile(url, 'utf8'));
  return documents.map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
}

const files = (await readdir(HERE)).filter((name) => name.endsWith('.yaml'));
const manifests = (
  await Promise.all(
    files
      .filter((name) => name !== 'kustomization.yaml')
      .map((name) => manifestsOf(new URL(name, HERE))),
  )
).flat();
const triggers = manifests.filter(({ kind }) => kind === 'Trigger').map(parseTrigger);
const services = await Promise.all(
  ['campaign', 'device-communication', 'data-provider', 'data-processing', 'export'].map(
    async (stage) => (await manifestsOf(new URL(`${stage}/service.yaml`, FUNCTIONS)))[0],
  ),
);

const of = (kind: string): Manifest => manifests.find((one) => one.kind === kind) as Manifest;

const pair = (type: string, consumer: string): string => `${type} → ${consumer}`;

test('the Triggers are exactly the (type, consumer) pairs that the catalogue sends by the Broker', () => {
  const wanted = CATALOG.filter(({ route }) => route === 'broker').flatMap(({ type, consumers }) =>
    consumers.map((consumer) => pair(type, consumer)),
  );
  const have = triggers.map(({ filter, subscriber }) =>
    pair(filter['type'] ?? '', subscriber.ref?.name ?? ''),
  );
  expect(have.length).toBeGreaterThan(0);
  expect(have.sort()).toEqual(wanted.sort());
});

test.each(triggers.map((trigger): [string, TriggerSpec] => [trigger.name, trigger]))(
  'the Trigger %s retries ten times and parks at its own stage',
  (_, { broker, delivery, subscriber, filter }) => {
    expect(broker).toEqual({ namespace: 'tachograph', name: 'default' });
    expect(Object.keys(filter)).toEqual(['type']);
    expect(delivery).toEqual({
      retry: 10,
      backoffPolicy: 'exponential',
      backoffDelayMs: 200,
      maxBackoffMs: 600_000,
      timeoutMs: 30_000,
      deadLetterSink: { ref: subscriber.ref, uri: '/dead-letter' },
    });
  },
);

test('every producer and consumer of the catalogue is a Service that the SinkBinding selects', () => {
  const labels = of('SinkBinding').spec?.subject?.selector.matchLabels;
  const names = services.map((service) => service?.metadata.name);
  for (const { producer, consumers } of CATALOG) {
    const stages = producer === 'vehicle' || producer === 'platform' ? [] : [producer];
    for (const stage of [...stages, ...consumers]) expect(names).toContain(stage);
  }
  for (const service of services) {
    expect(service?.metadata.namespace).toBe('tachograph');
    expect(service?.metadata.labels).toMatchObject(labels ?? { selector: 'missing' });
  }
});

test('Broker, SinkBinding and PingSource fit together', () => {
  const sink = { kind: 'Broker', name: of('Broker').metadata.name };
  expect(of('SinkBinding').spec?.sink?.ref).toMatchObject(sink);
  expect(of('PingSource').spec?.sink?.ref).toMatchObject(sink);
  expect(of('Broker').spec?.config?.name).toBe(of('ConfigMap').metadata.name);
});

test('the channel template holds the limits that the local broker has by default', () => {
  expect(parseChannelTemplate(of('ConfigMap').data?.['channelTemplateSpec'] ?? '')).toEqual({
    limits: { maxAgeMs: 86_400_000, maxBytes: 1024 ** 3, duplicateWindowMs: 120_000 },
  });
});

test('the kustomization lists every file of the folder', async () => {
  const [kustomization] = await manifestsOf(new URL('kustomization.yaml', HERE));
  const listed = [...(kustomization?.resources ?? []), 'kustomization.yaml'];
  expect(listed.sort()).toEqual(files.sort());
});
