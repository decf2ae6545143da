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
const AUTOSCALING = 'spec template metadata annotations autoscaling.knative.dev';

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
      'metadata annotations tachograph.io/entry',
      `${AUTOSCALING}/min-scale`,
      'spec template spec containerConcurrency',
      'spec template spec timeoutSeconds',
      'spec template metadata labels *',
      `${CONTAINER} env [] name`,
      `${CONTAINER} env [] value`,
      `${CONTAINER} env [] valueFrom configMapKeyRef name`,
      `${CONTAINER} env [] valueFrom configMapKeyRef key`,
      `${CONTAINER} env [] valueFrom configMapKeyRef optional`,
      `${CONTAINER} env [] valueFrom secretKeyRef name`,
      `${CONTAINER} env [] valueFrom secretKeyRef key`,
      `${CONTAINER} env [] valueFrom secretKeyRef optional`,
    ],
    inert: [
      `${AUTOSCALING}/class`,
      `${AUTOSCALING}/max-scale`,
      `${AUTOSCALING}/initial-scale`,
      `${AUTOSCALING}/activation-scale`,
      `${AUTOSCALING}/metric`,
      `${AUTOSCALING}/target`,
      `${AUTOSCALING}/target-utilization-percentage`,
      `${AUTOSCALING}/target-burst-capacity`,
      `${AUTOSCALING}/window`,
      `${AUTOSCALING}/panic-window-percentage`,
      `${AUTOSCALING}/panic-threshold-percentage`,
      `${AUTOSCALING}/scale-down-delay`,
      `${AUTOSCALING}/scale-to-zero-pod-retention-period`,
      'spec template spec serviceAccountName',
      'spec template spec enableServiceLinks',
      `${CONTAINER} name`,
      `${CONTAINER} image`,
      `${CONTAINER} imagePullPolicy`,
      `${CONTAINER} ports **`,
      `${CONTAINER} resources **`,
      `${CONTAINER} readinessProbe **`,
      `${CONTAINER} livenessProbe **`,
      `${CONTAINER} startupProbe **`,
      `${CONTAINER} securityContext **`,
      'spec traffic **',
    ],
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
