import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readPipeline } from '#infra/local/manifests/pipeline-manifests.ts';
import { EXPERIMENT_OVERLAY, experimentOverlay } from './experiment-overlay.ts';
import { readExperiment, withPolicy } from './read-experiment.ts';
import type { PolicyChoice } from './experiment.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = (await readdir('loadtest/experiments')).filter((name) => name.endsWith('.yaml'));

async function scalings(file: string, policy: PolicyChoice) {
  const text = await readFile(`loadtest/experiments/${file}`, 'utf8');
  const overlay = experimentOverlay(withPolicy(readExperiment(text, file), policy));
  const { services, nodeScaler } = await readPipeline(root, EXPERIMENT_OVERLAY, overlay);
  const scaling = Object.fromEntries(services.map((service) => [service.name, service.scaling]));
  return { services, nodeScaler, scaling };
}

/** What scales stages behind a Trigger, and the others. */
const EXPECTED: readonly (readonly [PolicyChoice, string, string])[] = [
  [{ kind: 'kpa' }, 'kpa', 'kpa'],
  [{ kind: 'hpa' }, 'hpa', 'hpa'],
  [{ kind: 'keda' }, 'keda', 'kpa'],
  [{ kind: 'node' }, 'node', 'kpa'],
  // A Service whose minimum is its maximum.
  [{ kind: 'fixed' }, 'kpa', 'kpa'],
  [{ kind: 'schedule' }, 'schedule', 'schedule'],
  [{ kind: 'custom', module: 'examples/policies/drain-in-time.ts' }, 'custom', 'kpa'],
];

const cases = files.flatMap((file) => EXPECTED.map((row) => [file, ...row] as const));

test.each(cases)(
  '%s with %j: the manifests hold, and %s scales',
  async (file, policy, ...names) => {
    const { scaling } = await scalings(file, policy);
    const [behindTriggers, others] = names;
    const scaledBy = Object.entries(scaling).map(([name, { policy: by }]) => [name, by]);
    expect(Object.fromEntries(scaledBy)).toEqual({
      campaign: others,
      'device-communication': others,
      'data-provider': behindTriggers,
      'data-processing': behindTriggers,
      export: behindTriggers,
    });
  },
);

test('step.yaml + kpa: the settings of the file are those that scale', async () => {
  const { scaling, services } = await scalings('step.yaml', { kind: 'kpa' });
  expect(scaling['data-processing']).toMatchObject({
    config: {
      targetPerReplica: 0.8,
      stableWindowMs: 10_000,
      scaleToZeroGracePeriodMs: 6_000,
      maxScale: 6,
      initialScale: 0,
    },
  });
  expect(services.find(({ name }) => name === 'data-processing')).toMatchObject({
    containerConcurrency: 1,
    resources: { cpuRequestMillis: 100 },
  });
});

test('step.yaml + hpa, keda, node, fixed: their periods, bounds and targets', async () => {
  expect((await scalings('step.yaml', { kind: 'hpa' })).scaling['data-processing']).toMatchObject({
    config: {
      minReplicas: 1,
      maxReplicas: 6,
      metrics: [{ kind: 'cpu', utilizationPercent: 125 }],
      syncPeriodMs: 5_000,
      metricWindowMs: 5_000,
      cpuRequestMillis: 100,
    },
  });
  const keda = (await scalings('step.yaml', { kind: 'keda' })).scaling;
  expect(keda['data-processing']).toMatchObject({
    config: {
      pollingIntervalMs: 2_000,
      cooldownPeriodMs: 9_000,
      lagThreshold: 1,
      hpa: { syncPeriodMs: 5_000 },
    },
  });
  expect(keda['campaign']).toMatchObject({ config: { stableWindowMs: 10_000 } });
  expect((await scalings('step.yaml', { kind: 'node' })).nodeScaler).toMatchObject({
    periodMs: 5_000,
    maxNodes: 4,
  });
  expect((await scalings('step.yaml', { kind: 'fixed' })).scaling['data-processing']).toMatchObject(
    { config: { minScale: 4, maxScale: 4, initialScale: 4 } },
  );
});
