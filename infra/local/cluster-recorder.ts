import { join } from 'node:path';
import type { Log } from '#kernel/system/log.ts';
import type {
  ColdStartRow,
  DecisionRow,
  NodeRow,
  ReplicaRow,
  SampleRow,
} from './cluster-records.ts';
import { RowFile } from './row-file.ts';

/** The files of cluster-records.ts, by kind. */
export const RECORD_FILES = {
  decisions: 'decisions.ndjson',
  replicas: 'replicas.ndjson',
  coldStarts: 'cold-starts.ndjson',
  samples: 'samples.ndjson',
  nodes: 'nodes.ndjson',
} as const;

export type RecordKind = keyof typeof RECORD_FILES;

interface Rows {
  readonly decisions: DecisionRow;
  readonly replicas: ReplicaRow;
  readonly coldStarts: ColdStartRow;
  readonly samples: SampleRow;
  readonly nodes: NodeRow;
}

/** An hour of five Services writes about 20 MB of decisions. */
const MAX_FILE_BYTES = 268_435_456;

/** What the local cluster writes down about itself. */
export class ClusterRecorder {
  readonly #files: ReadonlyMap<RecordKind, RowFile>;
  readonly #log: Log;

  /** Makes the files anew in `folder`, which exists. */
  constructor(folder: string, log: Log, maxBytes = MAX_FILE_BYTES) {
    this.#log = log;
    this.#files = new Map(
      Object.entries(RECORD_FILES).map(([kind, name]) => [
        kind as RecordKind,
        new RowFile(join(folder, name), maxBytes),
      ]),
    );
  }

  write<Kind extends RecordKind>(kind: Kind, row: Rows[Kind]): void {
    const file = this.#files.get(kind);
    if (file === undefined) return;
    file.write(row);
    if (file.dropped === 1) {
      this.#log.error('rows of the record are missing from here on', {
        file: file.path,
        why: file.reason,
      });
    }
  }

  /** What is not complete: file name and rows missing. A run with any is not valid. */
  problems(): string[] {
    return [...this.#files].flatMap(([kind, { dropped, reason }]) =>
      dropped === 0
        ? []
        : [`${RECORD_FILES[kind]} misses its last ${dropped} rows: ${reason ?? 'it was closed'}`],
    );
  }

  close(): void {
    for (const file of this.#files.values()) file.close();
  }
}
