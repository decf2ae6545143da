/** The group of Knative's autoscaling annotations. */
export const KNATIVE = 'autoscaling.knative.dev';

interface Parts {
  /** Lines of metadata.annotations. */
  readonly own?: readonly string[];
  /** Lines of spec.template.metadata.annotations. */
  readonly scale?: readonly string[];
}

const lines = (indent: string, all: readonly string[]): string =>
  all.map((line) => `${indent}${line}\n`).join('');

/** A Knative Service `work`; its own annotations begin at line 8, its template’s at line 12 without others. */
export const service = ({ own = [], scale = [] }: Parts = {}): string => `
apiVersion: serving.knative.dev/v1
kind: Service
metadata:
  name: work
  annotations:
${lines('    ', ['tachograph.io/entry: lab/stage.ts', ...own])}spec:
  template:
    metadata:
      annotations:
${lines('        ', scale)}    spec:
      containerConcurrency: 4
      containers: [{image: a, resources: {requests: {cpu: 100m}}}]
`;

/** A Deployment `work`, as `spec` lines and annotations of its own have it. */
export const deployment = (own: readonly string[] = [], spec: readonly string[] = []): string => `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: work
  annotations:
${lines('    ', ['tachograph.io/entry: lab/stage.ts', ...own])}spec:
${lines('  ', spec)}  selector: {matchLabels: {app: work}}
  template:
    metadata: {labels: {app: work}}
    spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 100m}}}]}
`;

const TARGET = 'scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: work}';

/** An HPA of the Deployment `work`. */
export const hpa = (spec: readonly string[] = ['maxReplicas: 6'], own = '{}'): string => `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: work, annotations: ${own}}
spec:
  ${TARGET}
${lines('  ', spec)}`;

/** A ScaledObject of the Deployment `work`. */
export const scaledObject = (
  metadata = '{lagThreshold: "5"}',
  spec: readonly string[] = [],
): string => `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: work}
spec:
  ${TARGET}
${lines('  ', spec)}  triggers:
    - type: nats-jetstream
      metadata: ${metadata}
`;

/** A NodeScaler of the Deployment `work`; `spec` begins with a comma. */
export const nodeScaler = (spec = ''): string => `
apiVersion: tachograph.io/v1alpha1
kind: NodeScaler
metadata: {name: nodes}
spec: {services: [{name: work}]${spec}}
`;

/** ConfigMap config-autoscaler with one key. */
export const configMap = (data: string, namespace = 'knative-serving'): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: config-autoscaler, namespace: ${namespace}}
data:
  ${data}
`;

/** Several documents as one file. */
export const all = (...documents: readonly string[]): string => documents.join('---\n');
