import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What every bundle can contain, and what makes it. */
const SHARED = ['functions', 'eventing', 'infra/bundle'] as const;

const SOURCE = /(?<!\.test|\.contract)\.ts$/;

/**
 * What bundles of these programs are made of, as one hash: sources, the lock file's packages, the
 * version of Node (whose compile cache no other version reads).
 */
export async function sourceHash(
  root: string,
  entries: readonly string[],
  nodeVersion: string,
): Promise<string> {
  const folders = new Set([...SHARED, ...entries.map((entry) => dirname(entry))]);
  const found = await Promise.all([...folders].map((folder) => sourcesBelow(root, folder)));
  const paths = [...new Set(found.flat())].toSorted();
  const hash = createHash('sha256').update(nodeVersion);
  for (const path of [...paths, 'package.json', 'package-lock.json']) {
    const bytes = await readFile(join(root, path));
    hash.update(`\n${path} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex').slice(0, 16);
}

async function sourcesBelow(root: string, folder: string): Promise<readonly string[]> {
  const below = await readdir(join(root, folder), { recursive: true });
  return below.filter((name) => SOURCE.test(name)).map((name) => `${folder}/${name}`);
}
