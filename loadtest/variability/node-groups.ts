import { join } from 'node:path';
import {
  cgroupPlaces,
  type CgroupPlace,
  type CgroupVersion,
} from '#infra/local/replicas/cgroup-settings.ts';
import {
  removeGroup,
  removeLeftovers,
  SYSTEM_FILES,
  writeSettings,
  type GroupFiles,
} from '#infra/local/replicas/group-files.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { neighboursGroup, nodeGroups, qosGroup } from './study-groups.ts';
import type { QosClass, Study } from './study.ts';

/** Whether local nodes and classes are more than names. */
export interface Enforcement {
  readonly enforced: boolean;
  readonly cgroup: CgroupVersion | null;
  /** Why not, or where. */
  readonly detail: string;
}

/** The groups of a local study; `joinFile` is null where nothing is enforced. */
export interface NodeGroups {
  readonly enforcement: Enforcement;
  probeJoinFile(node: string, qos: QosClass): string | null;
  neighboursJoinFile(node: string): string | null;
  /** Removes all groups; their processes have to be gone. */
  close(): Promise<void>;
}

export interface NodeGroupsOptions {
  readonly pid: number;
  readonly clock: Clock;
  readonly platform: string;
  readonly files?: GroupFiles;
  /** Whether a process lives: leftovers of one that does not are removed. */
  readonly isAlive: (pid: number) => boolean;
}

const PREFIX = 'tachograph-variability-';

/** Names nodes and nothing more: another system, no permission, or asked for. */
export const namesOnly = (detail: string): NodeGroups => ({
  enforcement: { enforced: false, cgroup: null, detail },
  probeJoinFile: () => null,
  neighboursJoinFile: () => null,
  close: async () => {},
});

/**
 * Makes groups for the study's nodes in the first place that lets it. Never fails: where no place does,
 * nodes are names only, and `enforcement` says why.
 */
export async function openNodeGroups(
  study: Study,
  options: NodeGroupsOptions,
): Promise<NodeGroups> {
  if (options.platform !== 'linux') return namesOnly(`${options.platform} has no cgroups`);
  const files = options.files ?? SYSTEM_FILES;
  const reasons: string[] = [];
  try {
    const places = cgroupPlaces(
      await files.readFile('/proc/mounts', 'utf8'),
      await files.readFile('/proc/self/cgroup', 'utf8'),
      'cpu',
    );
    for (const place of places) {
      const reason = await tryPlace(study, place, { ...options, files });
      if (typeof reason !== 'string') return reason;
      reasons.push(`${place.folder}: ${reason}`);
    }
  } catch (error) {
    reasons.push(messageOf(error));
  }
  return namesOnly(reasons.length === 0 ? 'no cgroups are mounted' : reasons.join('; '));
}

type Means = NodeGroupsOptions & { readonly files: GroupFiles };

/** The groups, or why they cannot be made there; then nothing is left of them. */
async function tryPlace(
  study: Study,
  { version, folder }: CgroupPlace,
  means: Means,
): Promise<NodeGroups | string> {
  const { files } = means;
  const root = join(folder, `${PREFIX}${means.pid}`);
  const made: string[] = [];
  const removeAll = async (): Promise<void> => {
    while (made.length > 0) await removeGroup(made.pop() ?? '', means);
  };
  const make = async (path: string): Promise<void> => {
    await files.mkdir(path);
    made.push(path);
  };
  // Lets the group's children have CPU weight and quota; throws where the system does not allow it.
  const control = (path: string): Promise<unknown> =>
    files.writeFile(join(path, 'cgroup.subtree_control'), '+cpu');
  try {
    await removeLeftovers(folder, PREFIX, means);
    if (version === 'v2') await control(folder);
    await make(root);
    if (version === 'v2') await control(root);
    for (const [index, node] of study.nodes.entries()) {
      for (const { path, settings } of nodeGroups(node, index, study.limitMillicores, version)) {
        await make(join(root, path));
        await writeSettings(files, join(root, path), settings);
        if (version === 'v2' && !path.includes('/')) await control(join(root, path));
      }
    }
  } catch (error) {
    await removeAll();
    return messageOf(error);
  }
  const indexOf = (node: string): number => study.nodes.findIndex(({ name }) => name === node);
  return {
    enforcement: { enforced: true, cgroup: version, detail: root },
    probeJoinFile: (node, qos) => join(root, qosGroup(indexOf(node), qos), 'cgroup.procs'),
    neighboursJoinFile: (node) => join(root, neighboursGroup(indexOf(node)), 'cgroup.procs'),
    close: removeAll,
  };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
