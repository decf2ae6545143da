import { dirname } from 'node:path';
import type { GroupFiles } from '../group-files.ts';

/** A system with cgroups, in memory. */
export interface FakeGroupFiles {
  readonly files: GroupFiles;
  readonly folders: Set<string>;
  readonly written: Map<string, string>;
  /** Folders that cannot be removed so many times. */
  readonly busy: Map<string, number>;
}

export function fakeGroupFiles(
  mounts: string,
  selfCgroup: string,
  options: {
    readonly folders: readonly string[];
    /** Refused with EBUSY where it is written, with EACCES where a folder is made. */
    readonly refuses?: (path: string, text: string) => boolean;
    /** What groups' files say. */
    readonly pages?: ReadonlyMap<string, string>;
  },
): FakeGroupFiles {
  const folders = new Set(options.folders);
  const written = new Map<string, string>();
  const busy = new Map<string, number>();
  const pages = new Map([
    ['/proc/mounts', mounts],
    ['/proc/self/cgroup', selfCgroup],
  ]);
  const fail = (code: string, path: string): never => {
    throw Object.assign(new Error(`${code}: ${path}`), { code });
  };
  const inside = (path: string): string[] => [...folders].filter((own) => dirname(own) === path);
  const files: GroupFiles = {
    mkdir: async (path) => {
      if (options.refuses?.(path, '') === true) fail('EACCES', path);
      if (!folders.has(dirname(path))) fail('ENOENT', path);
      if (folders.has(path)) fail('EEXIST', path);
      folders.add(path);
    },
    rmdir: async (path) => {
      const times = busy.get(path) ?? 0;
      busy.set(path, times - 1);
      if (times > 0 || inside(path).length > 0) fail('EBUSY', path);
      if (!folders.delete(path)) fail('ENOENT', path);
    },
    readFile: async (path) => pages.get(path) ?? options.pages?.get(path) ?? fail('ENOENT', path),
    writeFile: async (path, text) => {
      if (options.refuses?.(path, text) === true) fail('EBUSY', path);
      if (!folders.has(dirname(path))) fail('ENOENT', path);
      written.set(path, text);
    },
    folders: async (path) => {
      if (!folders.has(path)) fail('ENOENT', path);
      return inside(path).map((own) => own.slice(path.length + 1));
    },
  };
  return { files, folders, written, busy };
}
