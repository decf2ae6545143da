import type { QosClass, StudyNode } from './study.ts';
import { NEIGHBOUR_MILLICORES } from './study.ts';

export type CgroupVersion = 'v1' | 'v2';

/** A group below the study's own, and what is written into its files. */
export interface GroupPlan {
  /** `node-1`, `node-1/guaranteed`. */
  readonly path: string;
  readonly settings: readonly (readonly [file: string, value: string])[];
}

const PERIOD_US = 100_000;
/** The kubelet gives a container without requests so many shares. */
const MIN_SHARES = 2;
const SHARES_PER_CPU = 1_024;

/** CPU shares that the kubelet makes of a request: 1 CPU = 1,024, at least 2. */
export const sharesOf = (requestMillicores: number): number =>
  Math.max(MIN_SHARES, Math.floor((requestMillicores * SHARES_PER_CPU) / 1_000));

/**
 * The weight of cgroup v2 that container runtimes make of shares: 2 → 1, 1,024 → 39.
 *
 * Source: 1 + ((shares − 2) · 9999) / 262142, integer division, as in runc's
 * ConvertCPUSharesToCgroupV2Value.
 */
export const weightOf = (shares: number): number =>
  1 + Math.floor(((shares - MIN_SHARES) * 9_999) / 262_142);

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
  const weight = weightFiles(version);
  const quota = quotaFiles(version);
  return [
    { path: root, settings: quota(node.millicores) },
    { path: `${root}/best-effort`, settings: weight(0) },
    { path: `${root}/guaranteed`, settings: [...weight(limit), ...quota(limit)] },
    { path: `${root}/neighbours`, settings: weight(node.neighbours * NEIGHBOUR_MILLICORES) },
  ];
}

export const qosGroup = (index: number, qos: QosClass): string => `node-${index + 1}/${qos}`;
export const neighboursGroup = (index: number): string => `node-${index + 1}/neighbours`;

const weightFiles =
  (version: CgroupVersion) =>
  (requestMillicores: number): GroupPlan['settings'] => {
    const shares = sharesOf(requestMillicores);
    return version === 'v1'
      ? [['cpu.shares', String(shares)]]
      : [['cpu.weight', String(weightOf(shares))]];
  };

const quotaFiles =
  (version: CgroupVersion) =>
  (millicores: number): GroupPlan['settings'] => {
    const quotaUs = Math.round((millicores * PERIOD_US) / 1_000);
    return version === 'v1'
      ? [
          ['cpu.cfs_period_us', String(PERIOD_US)],
          ['cpu.cfs_quota_us', String(quotaUs)],
        ]
      : [['cpu.max', `${quotaUs} ${PERIOD_US}`]];
  };

/** Where a group of the study may be made: the parent's folder. */
export interface CgroupPlace {
  readonly version: CgroupVersion;
  readonly folder: string;
}

/**
 * Places to try, best first, from /proc/mounts and /proc/self/cgroup: the own group of the v1 CPU
 * controller; in v2 the own group, then those around it (a group that holds processes may have no
 * controlled children, so under systemd it is the slice around).
 */
export function cgroupPlaces(mounts: string, selfCgroup: string): readonly CgroupPlace[] {
  const places: CgroupPlace[] = [];
  for (const line of mounts.split('\n')) {
    const [, mount, type, options] = line.split(' ');
    if (mount === undefined || options === undefined) continue;
    if (type === 'cgroup' && options.split(',').includes('cpu')) {
      places.push({ version: 'v1', folder: joined(mount, ownPath(selfCgroup, 'cpu')) });
      places.push({ version: 'v1', folder: mount });
    }
    if (type === 'cgroup2') {
      for (const path of pathsUp(ownPath(selfCgroup, ''))) {
        places.push({ version: 'v2', folder: joined(mount, path) });
      }
    }
  }
  const seen = new Set<string>();
  return places.filter(({ folder }) => !seen.has(folder) && seen.add(folder).size > 0);
}

const joined = (mount: string, path: string): string => (path === '/' ? mount : `${mount}${path}`);

function ownPath(selfCgroup: string, controller: string): string {
  for (const line of selfCgroup.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path !== undefined && controllers?.split(',').includes(controller) === true) return path;
  }
  return '/';
}

/** `/a/b` → `/a/b`, `/a`, `/`. */
function pathsUp(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return Array.from({ length: parts.length + 1 }, (_, up) => {
    const rest = parts.slice(0, parts.length - up);
    return `/${rest.join('/')}`;
  });
}
