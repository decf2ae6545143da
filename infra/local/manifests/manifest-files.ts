import { open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { manifestError } from './manifest-error.ts';
import type { Place } from './located-node.ts';
import { MAX_YAML_BYTES } from './parse-yaml.ts';

/** The files of one repository, by paths relative to its root with "/" between the parts. */
export interface ManifestFiles {
  /** Resolves a reference made in the folder `from`; refuses what leaves the repository. */
  resolve(from: string, reference: string, at: Place): Promise<string>;
  isFolder(path: string): Promise<boolean>;
  exists(path: string): Promise<boolean>;
  read(path: string, at: Place): Promise<string>;
}

async function kindOf(path: string): Promise<'folder' | 'file' | 'none'> {
  try {
    const found = await stat(path);
    return found.isDirectory() ? 'folder' : 'file';
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return 'none';
    throw error;
  }
}

/**
 * Files below `root`. Symbolic links that lead out of it are refused like `../` is. `extra` are files by
 * their paths that lie over the tree: they are there whether or not the disk has them.
 */
export async function manifestFiles(
  root: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<ManifestFiles> {
  const realRoot = await realpath(root);
  const absolute = (path: string): string => join(realRoot, path);
  const texts = new Map(Object.entries(extra));
  const folders = new Set(Object.keys(extra).flatMap(foldersOf));
  return {
    async resolve(from, reference, at) {
      if (/^[a-z][a-z0-9+.-]*:\/\/|^git@|^github\.com\//.test(reference) || isAbsolute(reference)) {
        throw manifestError(at, `"${reference}": only paths inside the repository are read`);
      }
      const path = resolve(absolute(from), reference);
      const virtual = relative(realRoot, path).split(sep).join('/');
      const isInside = virtual !== '..' && !virtual.startsWith('../');
      if (isInside && (texts.has(virtual) || folders.has(virtual))) return virtual;
      if ((await kindOf(path)) === 'none') {
        throw manifestError(at, `"${reference}" does not exist`);
      }
      const real = await realpath(path);
      const inside = relative(realRoot, real);
      if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
        throw manifestError(at, `"${reference}" leads out of the repository`);
      }
      return inside.split(sep).join('/');
    },
    isFolder: async (path) => folders.has(path) || (await kindOf(absolute(path))) === 'folder',
    exists: async (path) =>
      texts.has(path) || folders.has(path) || (await kindOf(absolute(path))) !== 'none',
    async read(path, at) {
      const refuseBeyond = (size: number): void => {
        if (size <= MAX_YAML_BYTES) return;
        const detail = `${path} has ${size} bytes; at most ${MAX_YAML_BYTES} are read`;
        throw manifestError(at, detail);
      };
      const text = texts.get(path);
      if (text !== undefined) {
        refuseBeyond(Buffer.byteLength(text));
        return text;
      }
      await using file = await open(absolute(path), 'r');
      refuseBeyond((await file.stat()).size);
      return file.readFile('utf8');
    },
  };
}

/** `a/b/c.yaml` → `a/b`, `a`. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
