import type { BigIntStats } from 'node:fs';

/** 4,096 entries of about 200 bytes: 0.8 MB. */
const MAX_HASHES = 4_096;

/**
 * SHA-256 of files on disk, so that a hash costs one reading a file and not one a request. The key
 * changes whenever the content can have changed: files are replaced by renaming, never written in place.
 */
export class FileHashes {
  readonly #hashes = new Map<string, string>();

  static key({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  }

  get size(): number {
    return this.#hashes.size;
  }

  get(key: string): string | undefined {
    return this.#hashes.get(key);
  }

  /** Remembers a hash; beyond the bound the oldest one is forgotten. */
  set(key: string, sha256: string): void {
    this.#hashes.set(key, sha256);
    for (const oldest of this.#hashes.keys()) {
      if (this.#hashes.size <= MAX_HASHES) return;
      this.#hashes.delete(oldest);
    }
  }
}
