import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  read,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { nextTurn } from '#kernel/system/next-turn.ts';
import { promisify } from 'node:util';
import type { Clock } from '#kernel/core/clock.ts';
import type { ExportFiles, ListedFile, OpenFile, UnitWriter } from './export-files.ts';
import { type ExportUnit, PARTS_FOLDER, parsePartName, sessionFolder } from './export-unit.ts';
import { FileHashes } from './file-hashes.ts';
import { errorCode, filesUnavailable } from './folder-errors.ts';
import { FolderUnitWriter } from './folder-unit-writer.ts';
import { thisProcess, type WriterProcess } from './writer-process.ts';

/** Below the root, so that moving is a rename and never a copy. No vehicle can have a name with a "+". */
const TEMPORARY_FOLDER = '+unpublished';
/**
 * A writer that is at work changes something in its folder every few seconds, and its request ends
 * after two minutes (service.yaml). After this much silence it is gone, wherever it ran.
 */
const ABANDONED_AFTER_MS = 600_000;
const SWEEP_EVERY_MS = 600_000;
const PIECE_BYTES = 262_144;

const readFile = promisify(read);

/** Names in a folder, sorted; none where there is no such folder. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

async function* pieces(file: number, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end;) {
    const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - at));
    const { bytesRead } = await readFile(file, buffer, 0, buffer.length, at);
    if (bytesRead === 0) throw filesUnavailable('read', new Error('the file became shorter'));
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** Files in a folder that all replicas share: `folder:PATH`. */
export class FolderFiles implements ExportFiles {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #hashes = new FileHashes();
  readonly #process: WriterProcess;
  #sweepAtMs = -Infinity;

  constructor(root: string, clock: Clock, writer = thisProcess()) {
    this.#root = root;
    this.#clock = clock;
    this.#process = writer;
  }

  async begin(unit: ExportUnit): Promise<UnitWriter> {
    const temporary = join(this.#root, TEMPORARY_FOLDER);
    try {
      mkdirSync(temporary, { recursive: true });
      this.#sweep(temporary);
      // The system picks a name that nobody else has, in this process or another.
      return new FolderUnitWriter(
        this.#root,
        mkdtempSync(join(temporary, this.#process.prefix)),
        unit,
      );
    } catch (error) {
      throw filesUnavailable('written', error);
    }
  }

  async open(path: string): Promise<OpenFile | undefined> {
    let file: number;
    try {
      file = openSync(join(this.#root, path), constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) return undefined;
      throw filesUnavailable('read', error);
    }
    try {
      const stats = fstatSync(file, { bigint: true });
      if (!stats.isFile()) {
        closeSync(file);
        return undefined;
      }
      const bytes = Number(stats.size);
      const key = FileHashes.key(stats);
      const sha256 = this.#hashes.get(key) ?? (await this.#hash(file, bytes, key));
      return {
        bytes,
        sha256,
        read: (start, end) => pieces(file, start, end),
        close: async () => closeSync(file),
      };
    } catch (error) {
      closeSync(file);
      throw filesUnavailable('read', error);
    }
  }

  async list(vehicle: string, session: string, limit: number): Promise<readonly ListedFile[]> {
    const listed: ListedFile[] = [];
    const walk = async (folder: string): Promise<void> => {
      for (const name of namesIn(join(this.#root, folder))) {
        if (listed.length >= limit) return;
        const path = `${folder}/${name}`;
        const stats = statSync(join(this.#root, path), { throwIfNoEntry: false });
        if (stats?.isDirectory() === true) await walk(path);
        else if (stats?.isFile() === true) listed.push({ path, bytes: stats.size });
      }
      await nextTurn();
    };
    try {
      await walk(sessionFolder(vehicle, session));
    } catch (error) {
      throw filesUnavailable('listed', error);
    }
    return listed;
  }

  async removeParts(
    vehicle: string,
    session: string,
    removes: (window: number, revision: number) => boolean,
  ): Promise<void> {
    const parts = join(this.#root, sessionFolder(vehicle, session), PARTS_FOLDER);
    try {
      for (const name of namesIn(parts)) {
        const part = parsePartName(name);
        if (part === undefined || !removes(part.window, part.revision)) continue;
        rmSync(join(parts, name), { recursive: true, force: true });
        // One part is some 140 files: others get their turn between parts.
        await nextTurn();
      }
      rmdirSync(parts);
    } catch (error) {
      // Not there, or not empty: a part of a later revision stays.
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) {
        throw filesUnavailable('removed', error);
      }
    }
  }

  async #hash(file: number, bytes: number, key: string): Promise<string> {
    const hash = createHash('sha256');
    for await (const piece of pieces(file, 0, bytes)) hash.update(piece);
    const sha256 = hash.digest('hex');
    this.#hashes.set(key, sha256);
    return sha256;
  }

  /** At the first unit and every ten minutes: what killed processes left half written. */
  #sweep(temporary: string): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#sweepAtMs) return;
    this.#sweepAtMs = nowMs + SWEEP_EVERY_MS;
    for (const name of namesIn(temporary)) {
      const folder = join(temporary, name);
      if (this.#process.isGone(name) || nowMs - lastChangeMs(folder) > ABANDONED_AFTER_MS) {
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
}

/** When anything in a unit's folder changed last; its files are two levels down at most. */
function lastChangeMs(folder: string): number {
  const paths = namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    return [path, ...namesIn(path).map((file) => join(path, file))];
  });
  // What is gone meanwhile has been published or swept: nothing is known of its age.
  const times = [folder, ...paths].map(
    (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity,
  );
  return Math.max(...times);
}
