import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#kernel/core/clock.ts';
import {
  cgroupPlaces,
  neighboursGroup,
  nodeGroups,
  qosGroup,
  type CgroupPlace,
  type CgroupVersion,
} from './cgroup-settings.ts';
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

/** The file system, as much as groups need; a fake stands for it in tests. */
export interface GroupFiles {
  mkdir(path: string): Promise<unknown>;
  rmdir(path: string): Promise<unknown>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  writeFile(path: string, text: string): Promise<unknown>;
  /** Names of the folders in a folder. */
  folders(path: string): Promise<readonly string[]>;
}

const SYSTEM_FILES: GroupFiles = {
  mkdir,
  rmdir,
  readFile,
  writeFile,
  folders: async (path) =>
    (await readdir(path, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
};

export interface NodeGroupsOptions {
  readonly pid: number;
  readonly clock: Clock;
  readonly platform: string;
  readonly files?: GroupFiles;
  /** Whether a process lives: leftovers of one that does not are removed. */
  readonly isAlive: (pid: number) => boolean;
}

const PREFIX = 'tachograph-variability-';
/** A group with a process that is just being reaped is busy for some ms. */
const REMOVE_ATTEMPTS = 50;
const REMOVE_PAUSE_MS = 20;

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
    await removeLeftovers(folder, means);
    if (version === 'v2') await control(folder);
    await make(root);
    if (version === 'v2') await control(root);
    for (const [index, node] of study.nodes.entries()) {
      for (const { path, settings } of nodeGroups(node, index, study.limitMillicores, version)) {
        await make(join(root, path));
        for (const [file, value] of settings) {
          await files.writeFile(join(root, path, file), value);
        }
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

async function removeGroup(path: string, { files, clock }: Means): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await files.rmdir(path);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY' || attempt === REMOVE_ATTEMPTS) throw error;
      await clock.sleep(REMOVE_PAUSE_MS);
    }
  }
}

/** Groups of a study that was killed outright: their maker does not live any more. */
async function removeLeftovers(folder: string, means: Means): Promise<void> {
  for (const name of await means.files.folders(folder)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : Number.NaN;
    if (!Number.isInteger(pid) || means.isAlive(pid)) continue;
    await removeTree(join(folder, name), means);
  }
}

async function removeTree(path: string, means: Means): Promise<void> {
  for (const name of await means.files.folders(path)) await removeTree(join(path, name), means);
  await removeGroup(path, means);
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
