import { asyncBufferFromFile, parquetMetadataAsync, parquetRead } from 'hyparquet';
import type { AsyncBuffer, FileMetaData } from 'hyparquet';

/** A signal of an exported Parquet file, before its values are read. */
export interface SignalSource {
  readonly path: string;
  readonly message: string;
  readonly signal: string;
  /** Its column in the file. */
  readonly column: string;
  readonly unit: string;
  /** physical = stored * factor + offset; 1 and 0 where the file holds physical values. */
  readonly factor: number;
  readonly offset: number;
}

export interface SignalValues {
  /** Seconds since the first row of the first file read. */
  readonly times: Float64Array;
  /** Physical; NaN = absent. */
  readonly values: Float64Array;
}

const TIME_COLUMN = 'time_us';

/** Microseconds as a number: a Date would cut them off. */
const parsers = { timestampFromMicroseconds: (micros: bigint): number => Number(micros) };

/** The signals of one exported file, from its key-value metadata. */
export async function signalsOf(path: string): Promise<readonly SignalSource[]> {
  const metadata = await parquetMetadataAsync(await asyncBufferFromFile(path));
  const entry = (key: string): string => keyValue(metadata, `tachograph.${key}`);
  const isRaw = entry('values') === 'raw';
  const signals = JSON.parse(entry('signals') || '[]') as readonly {
    readonly column: string;
    readonly signal: string;
    readonly unit: string;
    readonly factor: number;
    readonly offset: number;
  }[];
  return signals.map(({ column, signal, unit, factor, offset }) => ({
    path,
    message: entry('message'),
    signal,
    column,
    unit,
    factor: isRaw ? factor : 1,
    offset: isRaw ? offset : 0,
  }));
}

const keyValue = (metadata: FileMetaData, key: string): string =>
  metadata.key_value_metadata?.find((pair) => pair.key === key)?.value ?? '';

/** The values of one signal, times counted from `originUs`. */
export async function readSignal(source: SignalSource, originUs: number): Promise<SignalValues> {
  const file = await asyncBufferFromFile(source.path);
  const columns = await readColumns(file, [TIME_COLUMN, source.column]);
  const stored = columns.get(source.column) ?? [];
  const times = Float64Array.from(columns.get(TIME_COLUMN) ?? [], (us) =>
    us === null ? Number.NaN : (Number(us) - originUs) / 1e6,
  );
  const values = Float64Array.from(stored, (value) =>
    value === null ? Number.NaN : Number(value) * source.factor + source.offset,
  );
  return { times, values };
}

/** The time of a file's first row, µs since 1970; undefined for a file without rows. */
export async function firstTimeUs(path: string): Promise<number | undefined> {
  const file = await asyncBufferFromFile(path);
  const columns = await readColumns(file, [TIME_COLUMN], 1);
  const first = columns.get(TIME_COLUMN)?.[0];
  return first === undefined || first === null ? undefined : Number(first);
}

type Cell = number | bigint | null;

async function readColumns(
  file: AsyncBuffer,
  columns: string[],
  rowEnd?: number,
): Promise<ReadonlyMap<string, readonly Cell[]>> {
  const read = new Map<string, Cell[]>();
  await parquetRead({
    file,
    columns,
    parsers,
    rowFormat: 'object',
    ...(rowEnd === undefined ? {} : { rowEnd }),
    onComplete: (rows) => {
      for (const column of columns) {
        read.set(
          column,
          rows.map((row) => (row as Record<string, Cell | undefined>)[column] ?? null),
        );
      }
    },
  });
  return read;
}
