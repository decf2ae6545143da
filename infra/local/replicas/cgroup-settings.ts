export type CgroupVersion = 'v1' | 'v2';

/** What is written into the files of a group. */
export type GroupSettings = readonly GroupSetting[];

export interface GroupSetting {
  readonly file: string;
  readonly value: string;
  /** The system may lack the file, and the group is sound without it. */
  readonly optional?: true;
}

const PERIOD_US = 100_000;
/** The least the kernel takes; the kubelet rounds up to it too. */
const MIN_QUOTA_US = 1_000;
/** The kubelet gives a container without requests so many shares. */
const MIN_SHARES = 2;
const SHARES_PER_CPU = 1_024;

/** CPU shares that the kubelet makes of a request: 1 CPU = 1,024, at least 2. */
export const sharesOf = (requestMillis: number): number =>
  Math.max(MIN_SHARES, Math.floor((requestMillis * SHARES_PER_CPU) / 1_000));

/**
 * The weight of cgroup v2 that container runtimes make of shares: 2 → 1, 1,024 → 39.
 *
 * Source: 1 + ((shares − 2) · 9999) / 262142, integer division, as in runc's
 * ConvertCPUSharesToCgroupV2Value.
 */
export const weightOf = (shares: number): number =>
  1 + Math.floor(((shares - MIN_SHARES) * 9_999) / 262_142);

/** Its part of the CPU where CPU is short. */
export function weightSettings(version: CgroupVersion, requestMillis: number): GroupSettings {
  const shares = sharesOf(requestMillis);
  return version === 'v1'
    ? [{ file: 'cpu.shares', value: String(shares) }]
    : [{ file: 'cpu.weight', value: String(weightOf(shares)) }];
}

/** The most CPU it ever gets, in each 100 ms: 300 millis are 30 ms. */
export function quotaSettings(version: CgroupVersion, limitMillis: number): GroupSettings {
  const quotaUs = Math.max(MIN_QUOTA_US, Math.round((limitMillis * PERIOD_US) / 1_000));
  return version === 'v1'
    ? [
        { file: 'cpu.cfs_period_us', value: String(PERIOD_US) },
        { file: 'cpu.cfs_quota_us', value: String(quotaUs) },
      ]
    : [{ file: 'cpu.max', value: `${quotaUs} ${PERIOD_US}` }];
}

/** The most memory; beyond it the kernel ends a process of the group. Swap is no way out. */
export function memorySettings(version: CgroupVersion, limitBytes: number): GroupSettings {
  const value = String(limitBytes);
  return version === 'v1'
    ? [
        { file: 'memory.limit_in_bytes', value },
        { file: 'memory.memsw.limit_in_bytes', value, optional: true },
      ]
    : [
        { file: 'memory.max', value },
        { file: 'memory.swap.max', value: '0', optional: true },
        { file: 'memory.oom.group', value: '1', optional: true },
      ];
}

/** Where the kernel counts the processes it has ended for want of memory. */
export const memoryKillsFile = (version: CgroupVersion): string =>
  version === 'v1' ? 'memory.oom_control' : 'memory.events';

/** The count in such a file; 0 where the kernel is too old to count. */
export const memoryKills = (page: string): number =>
  Number(/^oom_kill (\d+)$/m.exec(page)?.[1] ?? 0);

/** Where groups may be made: the parent's folder. */
export interface CgroupPlace {
  readonly version: CgroupVersion;
  readonly folder: string;
}

/**
 * Places to try for a controller, best first, from /proc/mounts and /proc/self/cgroup: the own group of
 * the v1 controller; in v2 the own group, then those around it (a group that holds processes may have no
 * controlled children, so under systemd it is the slice around).
 */
export function cgroupPlaces(
  mounts: string,
  selfCgroup: string,
  controller: 'cpu' | 'memory',
): readonly CgroupPlace[] {
  const places: CgroupPlace[] = [];
  for (const line of mounts.split('\n')) {
    const [, mount, type, options] = line.split(' ');
    if (mount === undefined || options === undefined) continue;
    if (type === 'cgroup' && options.split(',').includes(controller)) {
      places.push({ version: 'v1', folder: joined(mount, ownPath(selfCgroup, controller)) });
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
