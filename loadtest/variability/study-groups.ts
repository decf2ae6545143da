import {
  quotaSettings,
  weightSettings,
  type CgroupVersion,
  type GroupSettings,
} from '#infra/local/replicas/cgroup-settings.ts';
import type { QosClass, StudyNode } from './study.ts';
import { NEIGHBOUR_MILLICORES } from './study.ts';

/** A group below the study's own, and what is written into its files. */
export interface GroupPlan {
  /** `node-1`, `node-1/guaranteed`. */
  readonly path: string;
  readonly settings: GroupSettings;
}

/**
 * The groups of a node, as a kubelet would make them: the node's capacity as a quota around; in it the
 * guaranteed class with weight and quota of its limit, best-effort with the least weight and no quota of
 * its own, and the neighbours with the weight of what they request.
 */
export function nodeGroups(
  node: StudyNode,
  index: number,
  limitMillicores: number,
  version: CgroupVersion,
): readonly GroupPlan[] {
  const root = `node-${index + 1}`;
  const limit = Math.min(limitMillicores, node.millicores);
  const weight = (requestMillis: number): GroupSettings => weightSettings(version, requestMillis);
  const quota = (limitMillis: number): GroupSettings => quotaSettings(version, limitMillis);
  return [
    { path: root, settings: quota(node.millicores) },
    { path: `${root}/best-effort`, settings: weight(0) },
    { path: `${root}/guaranteed`, settings: [...weight(limit), ...quota(limit)] },
    { path: `${root}/neighbours`, settings: weight(node.neighbours * NEIGHBOUR_MILLICORES) },
  ];
}

export const qosGroup = (index: number, qos: QosClass): string => `node-${index + 1}/${qos}`;
export const neighboursGroup = (index: number): string => `node-${index + 1}/neighbours`;
