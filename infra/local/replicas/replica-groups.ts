import { join } from 'node:path';
import {
  cgroupPlaces,
  memoryKills,
  memoryKillsFile,
  memorySettings,
  quotaSettings,
  weightSettings,
  type CgroupPlace,
  type CgroupVersion,
} from './cgroup-settings.ts';
import {
  removeLeftovers,
  removeTree,
  SYSTEM_FILES,
  writeSettings,
  type GroupFiles,
  type GroupMeans,
} from './group-files.ts';
import type { ReplicaResources } from './pool-workload.ts';

/** Which limits of replicas are more than words. A study that needs one that is not refuses to run. */
export interface Enforcement {
  readonly cpu: 'cgroup v1' | 'cgroup v2' | 'none';
  /** `watched`: a process that holds more is seen within a second and ended. */
  readonly memory: 'cgroup' | 'watched' | 'none';
  /** Where the groups are, or why there are none. */
  readonly why: string;
}

/** The group of one replica. */
export interface ReplicaGroup {
  /** A process that writes its id into each of them is in the group. */
  readonly joinFiles: readonly string[];
  /** Processes that the kernel has ended there for want of memory. */
  memoryKills(): Promise<number>;
  /** Its processes have to be gone. */
  remove(): Promise<void>;
}

/** Weights, quotas and memory limits of replicas and nodes. */
export interface ReplicaGroups {
  readonly enforcement: Enforcement;
  /** What is left of groups when this process dies at once. */
  readonly folders: readonly string[];
  /** A node is a group around its replicas, with a quota. */
  addNode(name: string, cpuMillis: number): Promise<void>;
  removeNode(name: string): Promise<void>;
  open(replica: string, node: string | null, resources: ReplicaResources): Promise<ReplicaGroup>;
  close(): Promise<void>;
}

export interface ReplicaGroupsOptions extends Omit<GroupMeans, 'files'> {
  readonly pid: number;
  readonly platform: string;
  /** Of the machine: the weight of all replicas together against everything else. */
  readonly cores: number;
  readonly files?: GroupFiles;
}

/** Groups of one controller, or of both, under one root. */
interface Hierarchy {
  readonly version: CgroupVersion;
  readonly root: string;
  readonly cpu: boolean;
  readonly memory: boolean;
}

type Means = ReplicaGroupsOptions & { readonly files: GroupFiles };

const PREFIX = 'tachograph-replicas-';
/** Clusters of one process at one time. */
const MAX_ROOTS = 64;

const NO_GROUP: ReplicaGroup = {
  joinFiles: [],
  memoryKills: async () => 0,
  remove: async () => {},
};

/** Nothing is enforced but memory, by watching, where the system has an account of it. */
export const noGroups = (why: string, platform: string): ReplicaGroups => ({
  enforcement: { cpu: 'none', memory: platform === 'linux' ? 'watched' : 'none', why },
  folders: [],
  addNode: async () => {},
  removeNode: async () => {},
  open: async () => NO_GROUP,
  close: async () => {},
});

/**
 * Makes room for groups in the first places that let it, for CPU and memory each. Never fails: what no
 * place lets is not enforced, and `enforcement` says why.
 */
export async function openReplicaGroups(options: ReplicaGroupsOptions): Promise<ReplicaGroups> {
  const { platform } = options;
  if (platform !== 'linux') return noGroups(`${platform} has no cgroups`, platform);
  const means: Means = { ...options, files: options.files ?? SYSTEM_FILES };
  const reasons: string[] = [];
  const hierarchies: Hierarchy[] = [];
  try {
    const mounts = await means.files.readFile('/proc/mounts', 'utf8');
    const own = await means.files.readFile('/proc/self/cgroup', 'utf8');
    for (const controller of ['cpu', 'memory'] as const) {
      if (hierarchies.some((one) => one[controller])) continue;
      const found = await firstRoot(cgroupPlaces(mounts, own, controller), controller, means);
      if (typeof found === 'string') reasons.push(`${controller}: ${found}`);
      else hierarchies.push(found);
    }
  } catch (error) {
    reasons.push(messageOf(error));
  }
  if (hierarchies.length === 0) return noGroups(reasons.join('; '), platform);
  return new Groups(hierarchies, reasons, means);
}

/** A hierarchy in the first place that lets it; else every place with its reason. */
async function firstRoot(
  places: readonly CgroupPlace[],
  controller: 'cpu' | 'memory',
  means: Means,
): Promise<Hierarchy | string> {
  const reasons: string[] = [];
  for (const place of places) {
    // In v2 both controllers act on one group, where both are there.
    const wishes = place.version === 'v2' && controller === 'cpu' ? ['+cpu +memory', '+cpu'] : [''];
    for (const wish of wishes) {
      const controllers = wish === '' ? `+${controller}` : wish;
      try {
        return await makeRoot(place, controllers, means);
      } catch (error) {
        reasons.push(`${place.folder}: ${messageOf(error)}`);
      }
    }
  }
  return reasons.length === 0 ? 'no such cgroups are mounted' : reasons.join(', ');
}

async function makeRoot(
  { version, folder }: CgroupPlace,
  controllers: string,
  means: Means,
): Promise<Hierarchy> {
  const { files, pid, cores } = means;
  const hierarchy = {
    version,
    cpu: controllers.includes('cpu'),
    memory: controllers.includes('memory'),
  };
  await removeLeftovers(folder, PREFIX, means);
  const control = (path: string): Promise<unknown> =>
    files.writeFile(join(path, 'cgroup.subtree_control'), controllers);
  if (version === 'v2') await control(folder);
  const root = await makeNewFolder(join(folder, `${PREFIX}${pid}`), files);
  try {
    if (version === 'v2') await control(root);
    // All replicas together weigh as much as the machine has, as a kubelet's pods do.
    if (hierarchy.cpu) await writeSettings(files, root, weightSettings(version, cores * 1_000));
  } catch (error) {
    await removeTree(root, means);
    throw error;
  }
  return { ...hierarchy, root };
}

async function makeNewFolder(stem: string, files: GroupFiles): Promise<string> {
  for (let number = 0; ; number++) {
    const path = `${stem}-${number}`;
    try {
      await files.mkdir(path);
      return path;
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === 'EEXIST';
      if (!taken || number + 1 === MAX_ROOTS) throw error;
    }
  }
}

class Groups implements ReplicaGroups {
  readonly enforcement: Enforcement;
  readonly #hierarchies: readonly Hierarchy[];
  readonly #means: Means;
  readonly #nodeMillis = new Map<string, number>();

  constructor(hierarchies: readonly Hierarchy[], reasons: readonly string[], means: Means) {
    this.#hierarchies = hierarchies;
    this.#means = means;
    const cpu = hierarchies.find((one) => one.cpu);
    this.enforcement = {
      cpu: cpu === undefined ? 'none' : `cgroup ${cpu.version}`,
      memory: hierarchies.some((one) => one.memory) ? 'cgroup' : 'watched',
      why: [...this.folders, ...reasons].join('; '),
    };
  }

  get folders(): readonly string[] {
    return this.#hierarchies.map(({ root }) => root);
  }

  async addNode(name: string, cpuMillis: number): Promise<void> {
    this.#nodeMillis.set(name, cpuMillis);
    for (const { root, cpu, memory, version } of this.#hierarchies) {
      const folder = await this.#make(join(root, name));
      if (version === 'v2') {
        const controllers = [...(cpu ? ['+cpu'] : []), ...(memory ? ['+memory'] : [])].join(' ');
        await this.#means.files.writeFile(join(folder, 'cgroup.subtree_control'), controllers);
      }
      if (cpu) await writeSettings(this.#means.files, folder, quotaSettings(version, cpuMillis));
    }
  }

  async removeNode(name: string): Promise<void> {
    this.#nodeMillis.delete(name);
    for (const { root } of this.#hierarchies) await removeTree(join(root, name), this.#means);
  }

  async open(
    replica: string,
    node: string | null,
    resources: ReplicaResources,
  ): Promise<ReplicaGroup> {
    const { files } = this.#means;
    const folders = this.#hierarchies.map(({ root }) => join(root, node ?? '', replica));
    const remove = async (): Promise<void> => {
      for (const folder of folders) await removeTree(folder, this.#means);
    };
    try {
      for (const [index, hierarchy] of this.#hierarchies.entries()) {
        const folder = await this.#make(folders[index] ?? '');
        await writeSettings(files, folder, this.#settings(hierarchy, node, resources));
      }
    } catch (error) {
      await remove();
      throw error;
    }
    const counting = this.#hierarchies.findIndex(({ memory }) => memory);
    return {
      joinFiles: folders.map((folder) => join(folder, 'cgroup.procs')),
      memoryKills: async () => {
        const { version } = this.#hierarchies[counting] ?? {};
        if (version === undefined) return 0;
        const file = join(folders[counting] ?? '', memoryKillsFile(version));
        return memoryKills(await files.readFile(file, 'utf8'));
      },
      remove,
    };
  }

  #settings({ version, cpu, memory }: Hierarchy, node: string | null, asked: ReplicaResources) {
    const { cpuRequestMillis, cpuLimitMillis, memoryLimitBytes } = asked;
    // A group may not have a larger quota than the one around it (v1 refuses it).
    const nodeMillis = (node === null ? undefined : this.#nodeMillis.get(node)) ?? Infinity;
    return [
      ...(cpu ? weightSettings(version, cpuRequestMillis ?? 0) : []),
      ...(cpu && cpuLimitMillis !== null
        ? quotaSettings(version, Math.min(cpuLimitMillis, nodeMillis))
        : []),
      ...(memory && memoryLimitBytes !== null ? memorySettings(version, memoryLimitBytes) : []),
    ];
  }

  async #make(path: string): Promise<string> {
    await this.#means.files.mkdir(path);
    return path;
  }

  async close(): Promise<void> {
    for (const { root } of this.#hierarchies) await removeTree(root, this.#means);
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
