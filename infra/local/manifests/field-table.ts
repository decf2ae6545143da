import { FLAG_ANNOTATIONS } from '#infra/autoscaling/hpa/read-controller-flags.ts';
import {
  KNOWN_ANNOTATIONS,
  PROGRESS_DEADLINE,
} from '#infra/autoscaling/knative-config/annotation-keys.ts';
import { POLICY_ANNOTATIONS } from './scaling-manifest.ts';

/**
 * Which fields of which kind the local cluster knows, in two classes. A field in neither is an error.
 *
 * A path is the keys from the top, one space between; `[]` is any list element, `*` any one key, `**`
 * whatever is below.
 */
export interface KindFields {
  readonly apiVersion: string;
  /** What the local cluster acts on. */
  readonly honoured: readonly string[];
  /** What a cluster acts on and one machine has no use for; listed once at start. */
  readonly inert: readonly string[];
}

/** Labels do nothing by themselves, here as on a cluster: selectors read them. */
const COMMON = [
  'apiVersion',
  'kind',
  'metadata name',
  'metadata namespace',
  'metadata labels *',
] as const;
const CONTAINER = 'spec template spec containers []';
const TEMPLATE_ANNOTATIONS = 'spec template metadata annotations';
const FLAGS = FLAG_ANNOTATIONS.map((name) => `metadata annotations ${name}`);

/** What a pod template has in common, whoever owns it. */
const TEMPLATE_HONOURED: readonly string[] = [
  'spec template metadata labels *',
  ...POLICY_ANNOTATIONS.map((name) => `metadata annotations ${name}`),
  'metadata annotations tachograph.io/entry',
  'metadata annotations tachograph.io/start-delay',
  `${CONTAINER} env [] name`,
  `${CONTAINER} env [] value`,
  `${CONTAINER} env [] valueFrom configMapKeyRef name`,
  `${CONTAINER} env [] valueFrom configMapKeyRef key`,
  `${CONTAINER} env [] valueFrom configMapKeyRef optional`,
  `${CONTAINER} env [] valueFrom secretKeyRef name`,
  `${CONTAINER} env [] valueFrom secretKeyRef key`,
  `${CONTAINER} env [] valueFrom secretKeyRef optional`,
  `${CONTAINER} resources requests cpu`,
  `${CONTAINER} resources requests memory`,
  `${CONTAINER} resources limits cpu`,
  `${CONTAINER} resources limits memory`,
];

const TEMPLATE_INERT: readonly string[] = [
  'spec template spec serviceAccountName',
  'spec template spec enableServiceLinks',
  'spec template spec securityContext **',
  `${CONTAINER} name`,
  `${CONTAINER} image`,
  `${CONTAINER} imagePullPolicy`,
  `${CONTAINER} ports **`,
  `${CONTAINER} readinessProbe **`,
  `${CONTAINER} livenessProbe **`,
  `${CONTAINER} startupProbe **`,
  `${CONTAINER} securityContext **`,
];

/** Replicas by rules of an HPA, also inside a ScaledObject. */
const behavior = (prefix: string): readonly string[] =>
  ['scaleUp', 'scaleDown'].flatMap((direction) => [
    `${prefix} ${direction} stabilizationWindowSeconds`,
    `${prefix} ${direction} selectPolicy`,
    `${prefix} ${direction} tolerance`,
    `${prefix} ${direction} policies [] type`,
    `${prefix} ${direction} policies [] value`,
    `${prefix} ${direction} policies [] periodSeconds`,
  ]);

const delivery = (prefix: string): readonly string[] => [
  `${prefix} retry`,
  `${prefix} backoffPolicy`,
  `${prefix} backoffDelay`,
  `${prefix} timeout`,
  ...destination(`${prefix} deadLetterSink`),
];

const destination = (prefix: string): readonly string[] => [
  `${prefix} uri`,
  `${prefix} ref apiVersion`,
  `${prefix} ref kind`,
  `${prefix} ref name`,
  `${prefix} ref namespace`,
];

/** By kind. The group is part of apiVersion, which has to be exactly the one given. */
export const FIELD_TABLE: Readonly<Record<string, KindFields>> = {
  Service: {
    apiVersion: 'serving.knative.dev/v1',
    honoured: [
      ...COMMON,
      ...TEMPLATE_HONOURED,
      ...KNOWN_ANNOTATIONS.map((name) => `${TEMPLATE_ANNOTATIONS} ${name}`),
      `${TEMPLATE_ANNOTATIONS} ${PROGRESS_DEADLINE}`,
      ...FLAGS,
      'spec template spec containerConcurrency',
      'spec template spec timeoutSeconds',
    ],
    inert: [...TEMPLATE_INERT, 'spec traffic **'],
  },
  // The core's own: how a Deployment is reached.
  'Service v1': {
    apiVersion: 'v1',
    honoured: [...COMMON, 'spec selector *'],
    inert: ['spec type', 'spec ports **', 'spec clusterIP'],
  },
  Deployment: {
    apiVersion: 'apps/v1',
    honoured: [
      ...COMMON,
      ...TEMPLATE_HONOURED,
      'spec replicas',
      'spec selector matchLabels *',
      'spec template spec terminationGracePeriodSeconds',
    ],
    inert: [
      ...TEMPLATE_INERT,
      'spec template metadata annotations *',
      'spec strategy **',
      'spec revisionHistoryLimit',
      'spec progressDeadlineSeconds',
      'spec minReadySeconds',
    ],
  },
  HorizontalPodAutoscaler: {
    apiVersion: 'autoscaling/v2',
    honoured: [
      ...COMMON,
      ...FLAGS,
      'spec scaleTargetRef apiVersion',
      'spec scaleTargetRef kind',
      'spec scaleTargetRef name',
      'spec minReplicas',
      'spec maxReplicas',
      'spec metrics [] type',
      'spec metrics [] resource name',
      'spec metrics [] resource target type',
      'spec metrics [] resource target averageUtilization',
      'spec metrics [] resource target averageValue',
      ...behavior('spec behavior'),
    ],
    inert: [],
  },
  ScaledObject: {
    apiVersion: 'keda.sh/v1alpha1',
    honoured: [
      ...COMMON,
      ...FLAGS,
      'spec scaleTargetRef apiVersion',
      'spec scaleTargetRef kind',
      'spec scaleTargetRef name',
      'spec pollingInterval',
      'spec cooldownPeriod',
      'spec initialCooldownPeriod',
      'spec minReplicaCount',
      'spec maxReplicaCount',
      'spec idleReplicaCount',
      ...behavior('spec advanced horizontalPodAutoscalerConfig behavior'),
      'spec triggers [] type',
      'spec triggers [] metadata lagThreshold',
      'spec triggers [] metadata activationLagThreshold',
    ],
    inert: [
      // The local cluster takes the consumer by the Trigger that leads to the Deployment.
      'spec triggers [] name',
      'spec triggers [] metadata natsServerMonitoringEndpoint',
      'spec triggers [] metadata account',
      'spec triggers [] metadata accountID',
      'spec triggers [] metadata stream',
      'spec triggers [] metadata consumer',
      'spec triggers [] metadata useHttps',
    ],
  },
  // Our own: the node-based policy of the local cluster.
  NodeScaler: {
    apiVersion: 'tachograph.io/v1alpha1',
    honoured: [
      ...COMMON,
      'spec upperThreshold',
      'spec lowerThreshold',
      'spec periodSeconds',
      'spec minNodes',
      'spec maxNodes',
      'spec addNodeSeconds',
      'spec cpusPerNode',
      'spec services [] name',
      'spec services [] replicasPerNode',
    ],
    inert: [],
  },
  Broker: {
    apiVersion: 'eventing.knative.dev/v1',
    honoured: [
      ...COMMON,
      'spec config apiVersion',
      'spec config kind',
      'spec config name',
      'spec config namespace',
      ...delivery('spec delivery'),
    ],
    inert: ['metadata annotations eventing.knative.dev/broker.class'],
  },
  Trigger: {
    apiVersion: 'eventing.knative.dev/v1',
    honoured: [
      ...COMMON,
      'spec broker',
      'spec filter attributes *',
      ...destination('spec subscriber'),
      ...delivery('spec delivery'),
      'metadata annotations tachograph.io/max-in-flight',
    ],
    inert: [],
  },
  SinkBinding: {
    apiVersion: 'sources.knative.dev/v1',
    honoured: [
      ...COMMON,
      'spec subject apiVersion',
      'spec subject kind',
      'spec subject name',
      'spec subject namespace',
      'spec subject selector matchLabels *',
      ...destination('spec sink'),
    ],
    inert: [],
  },
  PingSource: {
    apiVersion: 'sources.knative.dev/v1',
    honoured: [
      ...COMMON,
      'spec schedule',
      'spec contentType',
      'spec data',
      ...destination('spec sink'),
    ],
    inert: [],
  },
  ConfigMap: {
    apiVersion: 'v1',
    honoured: [...COMMON, 'data *'],
    inert: [],
  },
  Secret: {
    apiVersion: 'v1',
    honoured: [...COMMON, 'stringData *', 'data *'],
    inert: ['type'],
  },
  Namespace: {
    apiVersion: 'v1',
    honoured: COMMON,
    inert: [],
  },
};

/** The channel template inside a Broker's ConfigMap (`data.channelTemplateSpec`), by kind. */
export const CHANNEL_TABLE: Readonly<Record<string, KindFields>> = {
  NatsJetStreamChannel: {
    apiVersion: 'messaging.knative.dev/v1alpha1',
    honoured: [
      'apiVersion',
      'kind',
      'spec stream config maxAge',
      'spec stream config maxBytes',
      'spec stream config duplicateWindow',
      'spec consumerConfigTemplate ackWait',
    ],
    inert: [
      'spec stream config storage',
      'spec stream config discard',
      'spec stream config replicas',
      'spec stream config retention',
      'spec consumerConfigTemplate maxAckPending',
      'spec consumerConfigTemplate deliverPolicy',
      'spec consumerConfigTemplate consumerType',
      'spec deploymentSpecTemplate **',
    ],
  },
};
