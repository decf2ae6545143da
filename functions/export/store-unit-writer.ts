import { createHash } from 'node:crypto';
import { TachographError } from '#kernel/core/errors.ts';
import { readNewest, readPrefix } from '#kernel/store/read-prefix.ts';
import type { Store } from '#kernel/store/store.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import type { UnitWriter, WrittenFile } from './export-files.ts';
import { type ExportUnit, unitFolder } from './export-unit.ts';
import { unitPrefix, unitsPrefix } from './store-unit-prefix.ts';

export const CHUNK_BYTES = 1_048_576;

/** Where each file of a unit lies in the unit's bytes. Written last: without it nothing is there. */
export interface FileManifest {
  readonly vehicle: string;
  readonly session: string;
  readonly window: number | null;
  readonly revision: number;
  readonly files: readonly {
    readonly path: string;
    readonly sha256: string;
    readonly bytes: number;
    readonly offset: number;
  }[];
  /** Ids of the chunks in order; each but the last has CHUNK_BYTES. */
  readonly chunks: readonly string[];
}

/** How often a unit can be published with other bytes than before (replicas of different versions). */
const MAX_MANIFESTS = 9_999;
/** Other replicas that publish the same unit at this moment. */
const MAX_RACES = 16;

/** Writes a unit as facts. Chunks are named by their hash, so two replicas with equal bytes share them. */
export class StoreUnitWriter implements UnitWriter {
  readonly #store: Store;
  readonly #unit: ExportUnit;
  readonly #removeUnit: (unit: ExportUnit) => Promise<void>;
  readonly #files: FileManifest['files'][number][] = [];
  readonly #chunks: string[] = [];
  readonly #pending = Buffer.alloc(CHUNK_BYTES);
  #pendingBytes = 0;
  #bytes = 0;

  constructor(store: Store, unit: ExportUnit, removeUnit: (unit: ExportUnit) => Promise<void>) {
    this.#store = store;
    this.#unit = unit;
    this.#removeUnit = removeUnit;
  }

  async add(name: string, content: Iterable<Uint8Array>): Promise<WrittenFile> {
    const hash = createHash('sha256');
    const offset = this.#bytes;
    for (const piece of content) {
      hash.update(piece);
      await this.#append(piece);
    }
    const path = `${unitFolder(this.#unit)}/${name}`;
    const written = { path, sha256: hash.digest('hex'), bytes: this.#bytes - offset };
    this.#files.push({ ...written, offset });
    return written;
  }

  async publish(stillWanted: () => Promise<boolean>): Promise<boolean> {
    await this.#flush();
    if (!(await stillWanted())) {
      await this.discard();
      return false;
    }
    const { vehicle, session, window, revision } = this.#unit;
    const manifest: FileManifest = {
      vehicle,
      session,
      window,
      revision,
      files: this.#files,
      chunks: this.#chunks,
    };
    await this.#insertNewest(manifest);
    if (window === null) await this.#removeOlder();
    return true;
  }

  /** Chunks without a manifest are invisible; they go with their unit's removal. */
  async discard(): Promise<void> {
    this.#pendingBytes = 0;
  }

  async #append(piece: Uint8Array): Promise<void> {
    for (let from = 0; from < piece.length;) {
      const until = Math.min(piece.length, from + CHUNK_BYTES - this.#pendingBytes);
      this.#pending.set(piece.subarray(from, until), this.#pendingBytes);
      this.#pendingBytes += until - from;
      this.#bytes += until - from;
      from = until;
      if (this.#pendingBytes === CHUNK_BYTES) await this.#flush();
    }
  }

  async #flush(): Promise<void> {
    if (this.#pendingBytes === 0) return;
    const bytes = Uint8Array.prototype.slice.call(this.#pending, 0, this.#pendingBytes);
    const sha256 = sha256Hex(bytes);
    const id = unitPrefix(this.#unit, 'chunk') + sha256;
    await this.#store.insert('files', id, { bytes }, sha256);
    this.#chunks.push(id);
    this.#pendingBytes = 0;
  }

  /** The manifest with the highest number counts; an equal one is not written again. */
  async #insertNewest(manifest: FileManifest): Promise<void> {
    const prefix = unitPrefix(this.#unit, 'manifest');
    const content = sha256Hex(JSON.stringify(manifest));
    for (let race = 0; race < MAX_RACES; race++) {
      const newest = await readNewest<FileManifest>(this.#store, 'files', prefix);
      const number = newest === undefined ? 0 : Number(newest.id.slice(prefix.length));
      if (newest !== undefined) {
        const again = await this.#store.insert('files', newest.id, { ...manifest }, content);
        if (again.outcome === 'created' || again.same) return;
      }
      if (number >= MAX_MANIFESTS) break;
      const id = prefix + String(number + 1).padStart(4, '0');
      const inserted = await this.#store.insert('files', id, { ...manifest }, content);
      if (inserted.outcome === 'created') return;
    }
    throw new TachographError('STORE_BUSY', { detail: `many replicas export ${prefix} at once` });
  }

  async #removeOlder(): Promise<void> {
    const { vehicle, session, revision } = this.#unit;
    const prefix = unitsPrefix(vehicle, session, 'manifest', 'session');
    const older = new Set<number>();
    for await (const { document } of readPrefix<FileManifest>(this.#store, 'files', prefix, {
      pageSize: 100,
    })) {
      if (document.revision < revision) older.add(document.revision);
    }
    for (const each of older) await this.#removeUnit({ ...this.#unit, revision: each });
  }
}
