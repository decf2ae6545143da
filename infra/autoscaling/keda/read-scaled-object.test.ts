import { expect, test } from 'vitest';
import { CONTROLLER_DEFAULTS } from '#infra/autoscaling/hpa/hpa-config.ts';
import { KEDA_DEFAULTS } from './keda-config.ts';
import { readScaledObject } from './read-scaled-object.ts';

const METADATA = {
  natsServerMonitoringEndpoint: 'nats.tachograph.svc.cluster.local:8222',
  account: '$G',
  stream: 'mystream',
  consumer: 'pull_consumer',
};

const trigger = (metadata: object = {}): object => ({
  type: 'nats-jetstream',
  metadata: { ...METADATA, ...metadata },
});

const manifest = (spec: object = {}, annotations: object = {}): object => ({
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'ScaledObject',
  metadata: { name: 'stage', annotations },
  spec: { scaleTargetRef: { name: 'stage' }, triggers: [trigger()], ...spec },
});

test("what is not said has KEDA's defaults, and its HPA the API's", () => {
  expect(readScaledObject(manifest())).toEqual({
    value: {
      target: 'stage',
      config: {
        ...KEDA_DEFAULTS,
        idleReplicaCount: null,
        hpa: {
          minReplicas: 1,
          maxReplicas: 100,
          metrics: [{ kind: 'external', name: 'nats-jetstream lag', averageValue: 10 }],
          behavior: null,
          ...CONTROLLER_DEFAULTS,
          cpuRequestMillis: null,
          memoryRequestBytes: null,
        },
      },
    },
    faults: [],
  });
});

test('what is said is taken', () => {
  const behavior = { scaleDown: { stabilizationWindowSeconds: 5 } };
  const spec = {
    pollingInterval: 2,
    cooldownPeriod: 10,
    initialCooldownPeriod: 3,
    minReplicaCount: 2,
    maxReplicaCount: 4,
    idleReplicaCount: 0,
    advanced: { horizontalPodAutoscalerConfig: { behavior } },
    triggers: [trigger({ lagThreshold: '1', activationLagThreshold: '5' })],
  };
  const { value } = readScaledObject(manifest(spec, { 'tachograph.io/sync-period': '5s' }));
  expect(value?.config).toMatchObject({
    pollingIntervalMs: 2_000,
    cooldownPeriodMs: 10_000,
    initialCooldownPeriodMs: 3_000,
    minReplicaCount: 2,
    maxReplicaCount: 4,
    idleReplicaCount: 0,
    lagThreshold: 1,
    activationLagThreshold: 5,
    hpa: {
      minReplicas: 2,
      maxReplicas: 4,
      syncPeriodMs: 5_000,
      metrics: [{ averageValue: 1 }],
      behavior: { scaleDown: { stabilizationWindowMs: 5_000 } },
    },
  });
});

const triggers = (metadata: object): object => ({ triggers: [trigger(metadata)] });
const LAG = 'spec.triggers.0.metadata.lagThreshold';

test.each<readonly [spec: object, path: string, message: string]>([
  [{ scaleTargetRef: {} }, 'spec.scaleTargetRef', 'scaleTargetRef needs the name of a Deployment'],
  [
    { pollingInterval: 0 },
    'spec.pollingInterval',
    'pollingInterval is 0; it must be an integer from 1 to 86400',
  ],
  [
    { pollingInterval: 0.5 },
    'spec.pollingInterval',
    'pollingInterval is 0.5; it must be an integer from 1 to 86400',
  ],
  [
    { cooldownPeriod: '300' },
    'spec.cooldownPeriod',
    'cooldownPeriod is "300"; it must be an integer from 0 to 86400',
  ],
  [
    { maxReplicaCount: 257 },
    'spec.maxReplicaCount',
    'maxReplicaCount is 257; it must be an integer from 0 to 256',
  ],
  [{ maxReplicaCount: 0 }, 'spec.maxReplicaCount', 'maxReplicaCount 0 must be at least 1'],
  // CheckReplicaCountBoundsAreValid of apis/keda/v1alpha1/scaledobject_types.go, commit 8b4f083c.
  [
    { minReplicaCount: 5, maxReplicaCount: 4 },
    'spec.maxReplicaCount',
    'maxReplicaCount 4 must be at least 5',
  ],
  [
    { idleReplicaCount: 0 },
    'spec.idleReplicaCount',
    'idleReplicaCount needs a minReplicaCount above it',
  ],
  [
    { idleReplicaCount: 1, minReplicaCount: 5 },
    'spec.idleReplicaCount',
    'idleReplicaCount is 1; it must be an integer from 0 to 0',
  ],
  [
    { triggers: undefined },
    'spec.triggers',
    'triggers must be a list of one, of type nats-jetstream',
  ],
  [
    { triggers: [trigger(), trigger()] },
    'spec.triggers',
    'triggers must be a list of one, of type nats-jetstream',
  ],
  [
    { triggers: [{ type: 'kafka' }] },
    'spec.triggers.0.type',
    'type is "kafka"; use nats-jetstream',
  ],
  // TestNATSJetStreamParseMetadata of pkg/scalers/nats_jetstream_scaler_test.go, the rows with a threshold.
  [
    triggers({ lagThreshold: 'Y' }),
    LAG,
    'lagThreshold is "Y"; it must be an integer from 1 to 1000000',
  ],
  [
    triggers({ lagThreshold: '0' }),
    LAG,
    'lagThreshold is "0"; it must be an integer from 1 to 1000000',
  ],
  [triggers({ lagThreshold: 6 }), LAG, 'lagThreshold is 6; it must be text: put it in quotes'],
  [
    triggers({ activationLagThreshold: 'Y' }),
    'spec.triggers.0.metadata.activationLagThreshold',
    'activationLagThreshold is "Y"; it must be an integer from 0 to 1000000',
  ],
  [
    { advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleUp: { policies: [] } } } } },
    'spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleUp.policies',
    'policies must be a list of 1 to 16',
  ],
])('fault: %j', (spec, path, message) => {
  const { value, faults } = readScaledObject(manifest(spec));
  expect(value).toBeUndefined();
  expect(faults).toContainEqual({ path: path.split('.'), message });
});

test('idle at a minimum of 0 is allowed, as KEDA does: its HPA has 1', () => {
  const { faults } = readScaledObject(manifest({ idleReplicaCount: 0, minReplicaCount: 0 }));
  expect(faults).toEqual([]);
});
