import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Clock } from '#kernel/core/clock.ts';
import { buildProgram, START_FILE } from './build-program.ts';
import { sourceHash } from './source-hash.ts';
import { warmUp } from './warm-up.ts';

export interface BundleOptions {
  readonly clock: Clock;
  /** The Node that will run the programs, and its version (`process.execPath`, `process.version`). */
  readonly node: string;
  readonly nodeVersion: string;
  /** Where bundles are kept; absent: `.tachograph/bundle` of the repository. */
  readonly folder?: string;
  /** What takes its time, and what did not work out, in one line each. */
  readonly onNote?: (line: string) => void;
}

/**
 * Makes sure that there is a bundle of each program, made of the sources as they are now.
 *
 * `entries` are paths relative to `root`, such as `functions/export/main.ts`. Returns entry → the program
 * to run under Node, relative to `root`. A bundle is built and run once beforehand (0.5 s and 1 s a
 * program), and kept under the hash of what it was made of; a few older ones are kept too, since
 * somebody may still run them. Throws BUNDLE_FAILED.
 */
export async function ensureBundles(
  root: string,
  entries: readonly string[],
  options: BundleOptions,
): Promise<ReadonlyMap<string, string>> {
  const folder = options.folder ?? join(root, '.tachograph', 'bundle');
  const hash = await sourceHash(root, entries, options.nodeVersion);
  const current = join(folder, hash);
  await mkdir(current, { recursive: true });
  const programs = new Map<string, string>();
  for (const entry of entries) {
    const place = join(current, placeOf(entry));
    if (!(await isThere(join(place, START_FILE)))) await make(root, entry, place, options);
    programs.set(entry, relative(root, join(place, START_FILE)));
  }
  const now = new Date(options.clock.nowMs());
  await utimes(current, now, now);
  await prune(folder, hash);
  return programs;
}

/** `functions/export/main.ts` → `functions-export-main`. */
const placeOf = (entry: string): string =>
  entry.replace(/\.ts$/, '').replaceAll(/[^A-Za-z0-9._]+/g, '-');

async function make(
  root: string,
  entry: string,
  place: string,
  options: BundleOptions,
): Promise<void> {
  options.onNote?.(`Bundling ${entry}`);
  // Made aside and moved as one: another process sees all of it or nothing.
  const aside = await mkdtemp(join(dirname(place), '.making-'));
  try {
    await buildProgram(root, entry, aside);
    const failure = await warmUp(join(aside, START_FILE), { ...options, root });
    if (failure !== undefined) {
      options.onNote?.(`${entry} could not be run beforehand and will start slower: ${failure}`);
    }
    await rename(aside, place);
  } catch (error) {
    // Somebody else was faster: theirs is the same.
    const taken = ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '');
    if (!taken) throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Bundles kept beside the current one. */
const KEPT = 2;

async function prune(folder: string, current: string): Promise<void> {
  const others: { readonly path: string; readonly usedMs: number }[] = [];
  for (const name of await readdir(folder)) {
    if (name === current) continue;
    const path = join(folder, name);
    const usedMs = (await stat(path).catch(ifGone))?.mtimeMs;
    if (usedMs !== undefined) others.push({ path, usedMs });
  }
  const old = others.toSorted((a, b) => b.usedMs - a.usedMs).slice(KEPT);
  for (const { path } of old) await rm(path, { recursive: true, force: true });
}

/** Another process removed it meanwhile. */
function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(ifGone)) !== undefined;
}
