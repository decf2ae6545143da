import { must } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { sessionPrefix } from '#kernel/core/ids.ts';
import { readNewest, readPrefix } from '#kernel/store/read-prefix.ts';
import type { Store } from '#kernel/store/store.ts';
import type { ExportFiles, ListedFile, OpenFile, UnitWriter } from './export-files.ts';
import { type ExportUnit, PARTS_FOLDER, parsePartName } from './export-unit.ts';
import { unitPrefix, unitsPrefix } from './store-unit-prefix.ts';
import { CHUNK_BYTES, type FileManifest, StoreUnitWriter } from './store-unit-writer.ts';

const REMOVED_AT_ONCE = 1_000;

async function removeAll(store: Store, prefix: string): Promise<void> {
  let removed: number;
  do {
    removed = await store.removePrefix('files', prefix, REMOVED_AT_ONCE);
  } while (removed === REMOVED_AT_ONCE);
}

/**
 * Files as facts, where no folder is shared: `store:`. The files of a unit stand one after another and
 * are cut into chunks of 1 MiB; a manifest names them and is written last. The newest manifest counts.
 */
export class StoreFiles implements ExportFiles {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async begin(unit: ExportUnit): Promise<UnitWriter> {
    return new StoreUnitWriter(this.#store, unit, (older) => this.#remove(older));
  }

  async open(path: string): Promise<OpenFile | undefined> {
    const [vehicle = '', session = '', folder, part = ''] = path.split('/');
    const prefix =
      folder === PARTS_FOLDER
        ? this.#partPrefix(vehicle, session, part)
        : unitsPrefix(vehicle, session, 'manifest', 'session');
    if (prefix === undefined) return undefined;
    const found = await readNewest<FileManifest>(this.#store, 'files', prefix);
    const entry = found?.document.files.find((file) => file.path === path);
    if (found === undefined || entry === undefined) return undefined;
    const manifest = found.document;
    return {
      bytes: entry.bytes,
      sha256: entry.sha256,
      read: (start, end) => this.#read(manifest, path, entry.offset + start, entry.offset + end),
      close: async () => {},
    };
  }

  async list(vehicle: string, session: string, limit: number): Promise<readonly ListedFile[]> {
    const listed = new Map<string, number>();
    const prefix = `${sessionPrefix(vehicle, session)}manifest/`;
    const manifests = new Map<string, FileManifest>();
    // Ascending, so that the newest of a unit's manifests, and the newest session's, is the last one.
    for await (const { document } of readPrefix<FileManifest>(this.#store, 'files', prefix, {
      pageSize: 100,
    })) {
      const { window, revision } = document;
      manifests.set(window === null ? 'session' : `${window}/${revision}`, document);
    }
    for (const { files } of manifests.values()) {
      for (const { path, bytes } of files) if (listed.size < limit) listed.set(path, bytes);
    }
    return [...listed]
      .map(([path, bytes]) => ({ path, bytes }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async removeParts(
    vehicle: string,
    session: string,
    removes: (window: number, revision: number) => boolean,
  ): Promise<void> {
    const doomed: ExportUnit[] = [];
    const prefix = unitsPrefix(vehicle, session, 'manifest', 'parts');
    for await (const { document } of readPrefix<FileManifest>(this.#store, 'files', prefix, {
      pageSize: 100,
    })) {
      const { window, revision } = document;
      if (window !== null && removes(window, revision)) {
        doomed.push({ vehicle, session, window, revision });
      }
    }
    for (const unit of doomed) await this.#remove(unit);
  }

  #partPrefix(vehicle: string, session: string, name: string): string | undefined {
    const part = parsePartName(name);
    return part && unitPrefix({ vehicle, session, ...part }, 'manifest');
  }

  /** The manifest first: a reader finds a unit whole or not at all. */
  async #remove(unit: ExportUnit): Promise<void> {
    await removeAll(this.#store, unitPrefix(unit, 'manifest'));
    await removeAll(this.#store, unitPrefix(unit, 'chunk'));
  }

  async *#read(
    manifest: FileManifest,
    path: string,
    start: number,
    end: number,
  ): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end;) {
      const place = Math.floor(at / CHUNK_BYTES);
      const from = place * CHUNK_BYTES;
      const id = must(manifest.chunks[place], 'chunk of a file');
      const chunk = (await this.#store.get('files', id))?.['bytes'];
      if (!(chunk instanceof Uint8Array)) {
        throw new TachographError('FILES_DAMAGED', { path, detail: `${id} is missing` });
      }
      const until = Math.min(end - from, chunk.length);
      yield chunk.subarray(at - from, until);
      at = from + until;
    }
  }
}
