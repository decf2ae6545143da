import { createHash } from 'node:crypto';
import {
  closeSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { UnitWriter, WrittenFile } from './export-files.ts';
import { type ExportUnit, SIDECAR, unitFolder } from './export-unit.ts';
import { errorCode, filesUnavailable } from './folder-errors.ts';

const syncToDisk = promisify(fsync);

/** The disk merges flushes that run at once; more of them only queue for its thread pool. */
const FLUSHES_AT_ONCE = 4;

/** Makes a file's content, or a folder's entries, survive a power cut. */
async function flush(path: string): Promise<void> {
  const file = openSync(path, 'r');
  try {
    await syncToDisk(file);
  } finally {
    closeSync(file);
  }
}

async function flushAll(paths: readonly string[]): Promise<void> {
  const waiting = [...paths];
  const work = async (): Promise<void> => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) await flush(path);
  };
  await Promise.all(Array.from({ length: FLUSHES_AT_ONCE }, work));
}

/**
 * Writes a unit into a folder of its own beside the export tree, then moves it into place.
 *
 * Small files are written with synchronous calls on purpose: 140 files of a part cost 5 ms of CPU that
 * way and 60 to 190 ms through the thread pool (Node 24.21, 2 cores). Only flushing to the disk waits.
 */
export class FolderUnitWriter implements UnitWriter {
  readonly #root: string;
  readonly #temporary: string;
  readonly #unit: ExportUnit;
  readonly #names: string[] = [];
  readonly #folders = new Set<string>();

  constructor(root: string, temporary: string, unit: ExportUnit) {
    this.#root = root;
    this.#temporary = temporary;
    this.#unit = unit;
  }

  async add(name: string, content: Iterable<Uint8Array>): Promise<WrittenFile> {
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      this.#makeFolder(dirname(join(this.#temporary, name)));
      // `wx`: a name that comes twice is a bug here, and must not lose the first file.
      const file = openSync(join(this.#temporary, name), 'wx');
      try {
        for (const piece of content) {
          hash.update(piece);
          for (let done = 0; done < piece.length;) done += writeSync(file, piece, done);
          bytes += piece.length;
        }
      } finally {
        closeSync(file);
      }
    } catch (error) {
      throw filesUnavailable('written', error);
    }
    this.#names.push(name);
    return { path: `${unitFolder(this.#unit)}/${name}`, sha256: hash.digest('hex'), bytes };
  }

  async publish(stillWanted: () => Promise<boolean>): Promise<boolean> {
    try {
      const durable = this.#unit.window === null;
      if (durable) await flushAll(this.#names.map((name) => join(this.#temporary, name)));
      if (!(await stillWanted())) {
        await this.discard();
        return false;
      }
      if (durable) await this.#publishSession();
      else this.#publishPart();
      await this.discard();
      return true;
    } catch (error) {
      throw filesUnavailable('published', error);
    }
  }

  async discard(): Promise<void> {
    rmSync(this.#temporary, { recursive: true, force: true });
  }

  #makeFolder(folder: string): void {
    if (this.#folders.has(folder)) return;
    mkdirSync(folder, { recursive: true });
    this.#folders.add(folder);
  }

  /** One rename for the whole part; a part that is there already (a redelivery) is replaced by file. */
  #publishPart(): void {
    if (this.#names.length === 0) return;
    const target = join(this.#root, unitFolder(this.#unit));
    mkdirSync(dirname(target), { recursive: true });
    try {
      renameSync(this.#temporary, target);
    } catch (error) {
      const code = errorCode(error);
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
      this.#moveInto(target);
    }
  }

  async #publishSession(): Promise<void> {
    const target = join(this.#root, unitFolder(this.#unit));
    mkdirSync(target, { recursive: true });
    this.#moveInto(target);
    const sets = new Set(
      this.#names.filter((name) => name !== SIDECAR).map((name) => dirname(name)),
    );
    this.#removeOthers(target);
    await flushAll([
      ...[...sets].map((set) => join(target, set)),
      target,
      dirname(target),
      this.#root,
    ]);
  }

  /** In the order they were added: the sidecar comes last and names what it found complete. */
  #moveInto(target: string): void {
    for (const name of this.#names) {
      this.#makeFolder(dirname(join(target, name)));
      renameSync(join(this.#temporary, name), join(target, name));
    }
  }

  /** Files of an earlier revision that this one does not have. */
  #removeOthers(target: string): void {
    const mine = new Set(this.#names);
    for (const set of ['recorded', 'raster']) {
      for (const name of readdirSync(target).includes(set) ? readdirSync(join(target, set)) : []) {
        if (!mine.has(`${set}/${name}`)) rmSync(join(target, set, name), { force: true });
      }
    }
  }
}
