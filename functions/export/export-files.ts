import type { ExportUnit } from './export-unit.ts';

export interface WrittenFile {
  /** Relative to the export root. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** A file as it is now: stays the same while it is open, even when it is replaced meanwhile. */
export interface OpenFile {
  readonly bytes: number;
  readonly sha256: string;
  /** The bytes from `start` to `end` (exclusive), in pieces. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

export interface ListedFile {
  readonly path: string;
  readonly bytes: number;
}

/** Writes the files of one unit; nobody sees any of them before `publish`. */
export interface UnitWriter {
  /** `name` is relative to the unit's folder. */
  add(name: string, content: Iterable<Uint8Array>): Promise<WrittenFile>;
  /**
   * Asks `stillWanted` as late as it can, then makes the files visible and replaces those of an
   * earlier revision. False: no longer wanted, nothing was made visible.
   */
  publish(stillWanted: () => Promise<boolean>): Promise<boolean>;
  /** Throws away what was not published; harmless after `publish`. */
  discard(): Promise<void>;
}

/**
 * Where exported files live. Compacted files are durable once published; a part may be lost with the
 * machine, since it can be written again from its result.
 */
export interface ExportFiles {
  begin(unit: ExportUnit): Promise<UnitWriter>;
  open(path: string): Promise<OpenFile | undefined>;
  /** Published files of a session, by path; at most `limit`. */
  list(vehicle: string, session: string, limit: number): Promise<readonly ListedFile[]>;
  /** Removes the parts of a session for which `removes` holds. */
  removeParts(
    vehicle: string,
    session: string,
    removes: (window: number, revision: number) => boolean,
  ): Promise<void>;
}
