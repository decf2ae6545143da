import { expect, test } from 'vitest';
import {
  all,
  configMap,
  deployment,
  hpa,
  KNATIVE,
  nodeScaler,
  scaledObject,
  service,
} from './testing/manifest-texts.ts';
import { readText } from './testing/read-text.ts';

async function scalingOf(...documents: readonly string[]) {
  const { services } = await readText(all(...documents));
  return services[0]?.scaling;
}

test('a Service without annotations is scaled by the KPA with Knative’s defaults', async () => {
  expect(await scalingOf(service())).toMatchObject({
    policy: 'kpa',
    config: {
      metric: 'concurrency',
      totalPerReplica: 4,
      targetPerReplica: 4 * 0.7,
      stableWindowMs: 60_000,
      maxScale: null,
      initialScale: 1,
    },
  });
});

test('annotations go before config-autoscaler, which goes before the defaults', async () => {
  const scale = [`${KNATIVE}/window: 20s`, `${KNATIVE}/max-scale: "6"`];
  const data = '{stable-window: 30s, scale-to-zero-grace-period: 6s, _example: "x"}';
  const map = configMap('').replace('data:\n  ', `data: ${data}`);
  expect(await scalingOf(service({ scale }), map)).toMatchObject({
    config: {
      stableWindowMs: 20_000,
      maxScale: 6,
      scaleToZeroGracePeriodMs: 6_000,
      maxScaleDownRate: 2,
    },
  });
});

test('the class hpa scales a Service by what it requests, with the controller’s flags', async () => {
  const scale = [`${KNATIVE}/class: hpa.${KNATIVE}`, `${KNATIVE}/target: "75"`];
  const own = ['tachograph.io/sync-period: 5s', 'tachograph.io/tolerance: "0.2"'];
  expect(await scalingOf(service({ own, scale }))).toMatchObject({
    policy: 'hpa',
    config: {
      minReplicas: 1,
      metrics: [{ kind: 'cpu', utilizationPercent: 75 }],
      cpuRequestMillis: 100,
      syncPeriodMs: 5_000,
      tolerance: 0.2,
      downscaleStabilizationMs: 300_000,
    },
  });
});

test.each([
  ['a Service', (own: readonly string[]) => service({ own })],
  ['a Deployment', (own: readonly string[]) => deployment(own)],
])('%s follows a time-table or a policy that its annotations name', async (_, workload) => {
  expect(await scalingOf(workload(['tachograph.io/schedule: 0s=1,30s=4']))).toEqual({
    policy: 'schedule',
    config: {
      steps: [
        { fromMs: 0, replicas: 1 },
        { fromMs: 30_000, replicas: 4 },
      ],
    },
  });
  expect(
    await scalingOf(
      workload([
        'tachograph.io/policy: lab/stage.ts',
        `tachograph.io/policy-config: '{"a": [1]}'`,
        'tachograph.io/policy-period: 500ms',
      ]),
    ),
  ).toEqual({
    policy: 'custom',
    module: 'lab/stage.ts',
    config: { a: [1] },
    periodMs: 500,
    bounds: { min: 0, max: null },
  });
});

test('a policy of one’s own decides every 2 s by default, within the Service’s bounds', async () => {
  const scale = [`${KNATIVE}/min-scale: "1"`, `${KNATIVE}/max-scale: "3"`];
  const own = ['tachograph.io/policy: lab/stage.ts'];
  expect(await scalingOf(service({ own, scale }))).toMatchObject({
    policy: 'custom',
    config: undefined,
    periodMs: 2_000,
    bounds: { min: 1, max: 3 },
  });
});

test.each([
  ['nothing', '', { policy: 'fixed', config: { replicas: 1 } }],
  [
    'an HPA',
    hpa(['minReplicas: 2', 'maxReplicas: 6'], '{tachograph.io/sync-period: 5s}'),
    {
      policy: 'hpa',
      config: { minReplicas: 2, maxReplicas: 6, cpuRequestMillis: 100, syncPeriodMs: 5_000 },
    },
  ],
  [
    'a ScaledObject',
    scaledObject(),
    { policy: 'keda', config: { lagThreshold: 5, pollingIntervalMs: 30_000 } },
  ],
  ['a NodeScaler', nodeScaler(), { policy: 'node' }],
])('a Deployment with %s is scaled by that', async (_, scaler, expected) => {
  expect(await scalingOf(...[deployment(), scaler].filter(Boolean))).toMatchObject(expected);
});

test('a Deployment that nothing scales keeps its own replicas', async () => {
  expect(await scalingOf(deployment([], ['replicas: 3']))).toEqual({
    policy: 'fixed',
    config: { replicas: 3 },
  });
});

test('a NodeScaler’s settings are the pipeline’s', async () => {
  const text = all(deployment(), nodeScaler(', cpusPerNode: 500m, periodSeconds: 5'));
  expect((await readText(text)).nodeScaler).toMatchObject({
    cpuMillisPerNode: 500,
    periodMs: 5_000,
    services: [{ name: 'work', replicasPerNode: 1 }],
  });
});

const SCHEDULE = 'tachograph.io/schedule: 0s=1';
const POLICY = 'tachograph.io/policy: lab/stage.ts';

// Without others, a Service's own annotations begin at line 8, its template's at line 12.
test.each<readonly [string, string, string | RegExp]>([
  [
    'a misspelt annotation',
    service({ scale: [`${KNATIVE}/min-scales: "1"`] }),
    `lab/x.yaml:12: field spec.template.metadata.annotations.${KNATIVE}/min-scales of a Service is not known to the local cluster; did you mean ${KNATIVE}/min-scale?`,
  ],
  [
    'a value out of range',
    service({ scale: [`${KNATIVE}/window: 5s`] }),
    `lab/x.yaml:12: expected 6s <= 5s <= 1h0m0s: ${KNATIVE}/window`,
  ],
  [
    'two of them: both',
    service({ scale: [`${KNATIVE}/window: 5s`, `${KNATIVE}/target: "0"`] }),
    `lab/x.yaml:13: target 0 should be at least 0.01: ${KNATIVE}/target; lab/x.yaml:12: expected 6s <= 5s`,
  ],
  [
    'a number for a text',
    service({ scale: [`${KNATIVE}/min-scale: 1`] }),
    `lab/x.yaml:12: the annotation ${KNATIVE}/min-scale must be text`,
  ],
  [
    'a class of somebody else',
    service({ scale: [`${KNATIVE}/class: keda.example.org`] }),
    'lab/x.yaml:12: class "keda.example.org" is none of kpa.autoscaling.knative.dev, hpa.autoscaling.knative.dev',
  ],
  [
    'a bad annotation beside a time-table',
    service({ own: [SCHEDULE], scale: [`${KNATIVE}/window: 5s`] }),
    'lab/x.yaml:13: expected 6s <= 5s <= 1h0m0s',
  ],
  [
    'a time-table and a policy',
    service({ own: [SCHEDULE, POLICY] }),
    'lab/x.yaml:9: tachograph.io/schedule and tachograph.io/policy exclude each other',
  ],
  [
    'a time-table that is none',
    service({ own: ['tachograph.io/schedule: 5s=1'] }),
    'lab/x.yaml:8: tachograph.io/schedule: the first step must be from 0s on',
  ],
  [
    'settings of a policy without one',
    service({ own: [`tachograph.io/policy-config: "{}"`] }),
    'lab/x.yaml:8: tachograph.io/policy-config does nothing without tachograph.io/policy',
  ],
  [
    'settings that are no JSON',
    service({ own: [POLICY, 'tachograph.io/policy-config: "{"'] }),
    'lab/x.yaml:9: tachograph.io/policy-config is not JSON',
  ],
  [
    'a period without a unit',
    service({ own: [POLICY, 'tachograph.io/policy-period: "2"'] }),
    'lab/x.yaml:9: tachograph.io/policy-period is "2"; use a duration',
  ],
  [
    'a policy that is not in the repository',
    service({ own: ['tachograph.io/policy: lab/none.ts'] }),
    'lab/x.yaml:8: "lab/none.ts" does not exist',
  ],
  [
    'a policy outside of the repository',
    service({ own: ['tachograph.io/policy: ../../../etc/hostname'] }),
    /^lab\/x\.yaml:8: .*(leads out of the repository|does not exist)/,
  ],
  [
    'a flag of the HPA controller at a KPA',
    service({ own: ['tachograph.io/sync-period: 5s'] }),
    'lab/x.yaml:8: tachograph.io/sync-period does nothing where kpa scales the Service',
  ],
  [
    'a flag without a unit',
    service({
      own: ['tachograph.io/sync-period: "5"'],
      scale: [`${KNATIVE}/class: hpa.${KNATIVE}`],
    }),
    'lab/x.yaml:8: metadata.annotations.tachograph.io/sync-period: ',
  ],
  [
    'an HPA without a maximum',
    all(deployment(), hpa(['minReplicas: 1'])),
    'lab/x.yaml:18: spec: maxReplicas is missing',
  ],
  [
    'a lag that is no text',
    all(deployment(), scaledObject('{lagThreshold: 5}')),
    'lab/x.yaml:22: spec.triggers.0.metadata.lagThreshold: lagThreshold is 5; it must be text',
  ],
  [
    'thresholds the wrong way round',
    all(deployment(), nodeScaler(', lowerThreshold: 0.9')),
    'lab/x.yaml:18: spec.lowerThreshold: lowerThreshold 0.9 must be below upperThreshold 0.8',
  ],
  [
    'an HPA and a ScaledObject',
    all(deployment(), hpa(), scaledObject()),
    'lab/x.yaml:2: the Deployment work is scaled by hpa and keda: two writers fight',
  ],
  [
    'a time-table and a NodeScaler',
    all(deployment([SCHEDULE]), nodeScaler()),
    'lab/x.yaml:2: the Deployment work is scaled by schedule and node: two writers fight',
  ],
  [
    'an HPA of a Service',
    all(service(), hpa()),
    'lab/x.yaml:21: there is no Deployment "work" to scale',
  ],
  [
    'an HPA of something else',
    all(deployment(), hpa().replace('kind: Deployment', 'kind: StatefulSet')),
    'lab/x.yaml:19: only a Deployment can be scaled from outside, not a StatefulSet',
  ],
  [
    'a NodeScaler of a Service',
    all(service(), nodeScaler()),
    'lab/x.yaml:20: there is no Deployment "work" to scale',
  ],
  [
    'two NodeScalers',
    all(deployment(), nodeScaler(), nodeScaler().replace('nodes', 'more')),
    'lab/x.yaml:21: there is a second NodeScaler',
  ],
  [
    'a time-table that is no text',
    service({ own: ['tachograph.io/schedule: 5'] }),
    'lab/x.yaml:8: the annotation tachograph.io/schedule must be text; put it in quotes',
  ],
  [
    'a policy that is a folder',
    service({ own: ['tachograph.io/policy: lab'] }),
    'lab/x.yaml:8: "lab" is a folder, not a file',
  ],
  [
    'a flag of the HPA controller at a policy of one’s own',
    service({
      own: [POLICY, 'tachograph.io/tolerance: "0.2"'],
      scale: [`${KNATIVE}/class: hpa.${KNATIVE}`],
    }),
    'lab/x.yaml:9: tachograph.io/tolerance does nothing where custom scales the Service',
  ],
  [
    'a bad flag at an HPA',
    all(deployment(), hpa(['maxReplicas: 6'], '{tachograph.io/tolerance: "x"}')),
    'lab/x.yaml:17: metadata.annotations.tachograph.io/tolerance: ',
  ],
  [
    'two HPAs',
    all(deployment(), hpa(), hpa().replace('{name: work, ann', '{name: more, ann')),
    'lab/x.yaml:2: the Deployment work is scaled by hpa and hpa: two writers fight',
  ],
  [
    'an HPA of another namespace',
    all(deployment(), hpa().replace('{name: work, ann', '{name: work, namespace: far, ann')),
    'lab/x.yaml:19: there is no Deployment "work" to scale in the namespace far',
  ],
  [
    'a NodeScaler of another namespace',
    all(deployment(), nodeScaler().replace('{name: nodes}', '{name: nodes, namespace: far}')),
    'lab/x.yaml:18: there is no Deployment "work" to scale in the namespace far',
  ],
  // What is at fault is written nowhere: the place is the object's.
  [
    'a maximum of config-autoscaler below its minimum',
    all(
      service({ scale: [`${KNATIVE}/class: hpa.${KNATIVE}`, `${KNATIVE}/min-scale: "3"`] }),
      configMap('max-scale: "2"'),
    ),
    `lab/x.yaml:2: ${KNATIVE}/max-scale is 2, it must not be below the minimum of 3`,
  ],
  [
    'a class of somebody else in config-autoscaler',
    all(service(), configMap('pod-autoscaler-class: keda.example.org')),
    'lab/x.yaml:2: class "keda.example.org" is none of',
  ],
])('readPipeline with %s throws with file and line', async (_, text, message) => {
  await expect(readText(text)).rejects.toThrow(message);
});
