import { stringify } from 'yaml';
import type { ProbeJob } from './probe-job.ts';
import type { QosClass, Study, StudyNode } from './study.ts';

export interface RenderOptions {
  readonly image: string;
  readonly namespace: string;
}

export interface RenderedJob {
  readonly file: string;
  readonly yaml: string;
}

const MAX_NAME = 63;
/** A pod that hangs would hold its node for ever. */
const MAX_JOB_S = 24 * 3_600;

const HEADER = `# One Job for one node and one quality of service. Its pods run one after the other, each a fresh
# process: an execution of the study, numbered by JOB_COMPLETION_INDEX.
#
# A pod prints NDJSON, one line a burst, then one of itself: CPU model, kernel release, Node version,
# the demand kernel's hash, the measured rate and its spread, the CPUs it may use (fewer than the node
# has: the kubelet's static CPU manager gave it its own), throttled periods, steal, CPU pressure.
# Not from the pod, to be recorded before it starts: the node's other pods and their millicores
# (metrics API). A Job's limit below one CPU throttles every burst longer than limit × 100 ms.
`;

/** One Job a node and class. Apply them in any order, or one after the other for one node at a time. */
export const renderJobs = (study: Study, options: RenderOptions): readonly RenderedJob[] =>
  study.nodes.flatMap((node) => study.qos.map((qos) => renderJob(study, node, qos, options)));

function renderJob(
  study: Study,
  node: StudyNode,
  qos: QosClass,
  { image, namespace }: RenderOptions,
): RenderedJob {
  const name = jobName(node.name, qos);
  const labels = {
    'app.kubernetes.io/name': 'variability',
    'app.kubernetes.io/part-of': 'tachograph',
    'tachograph.io/qos': qos,
  };
  const probe: ProbeJob = {
    study,
    cell: { node: node.name, qos, execution: 0 },
    joinFile: null,
  };
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, labels },
    spec: {
      completionMode: 'Indexed',
      completions: study.executions,
      parallelism: 1,
      backoffLimit: 0,
      activeDeadlineSeconds: MAX_JOB_S,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          affinity: { nodeAffinity: onNode(node.name) },
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'probe',
              image,
              args: ['loadtest/variability/probe.main.ts', JSON.stringify(probe)],
              env: [
                {
                  name: 'NODE_NAME',
                  valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } },
                },
              ],
              ...resourcesOf(study, qos),
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  };
  return {
    file: `${name}.yaml`,
    yaml: HEADER + stringify(job, { lineWidth: 0, aliasDuplicateObjects: false }),
  };
}

/** By the node's own name: labels such as the host name may differ from it. */
const onNode = (name: string): object => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] },
    ],
  },
});

/** Best-effort has no requests and no limits at all; one of either would make it burstable. */
function resourcesOf({ limitMillicores }: Study, qos: QosClass): object {
  if (qos === 'best-effort') return {};
  const amount = { cpu: `${limitMillicores}m`, memory: '256Mi' };
  return { resources: { requests: amount, limits: amount } };
}

/** A DNS label: lower case, digits and dashes, 63 characters. The class is at the front, so it stays. */
function jobName(node: string, qos: QosClass): string {
  const text = `variability-${qos}-${node}`.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  return text.slice(0, MAX_NAME).replace(/-+$/, '');
}
