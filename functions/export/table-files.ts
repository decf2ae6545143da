import { must } from '#kernel/core/assert.ts';
import type { StoredTable } from '#kernel/columns/stored-table.ts';
import type { ExportedFile } from '#kernel/facts/facts.ts';
import { csvTable } from './csv-table.ts';
import type { DatasetSource } from './dataset-source.ts';
import type { UnitWriter } from './export-files.ts';
import { parquetTable } from './parquet-table.ts';
import { physicalColumn } from './physical-column.ts';
import { columnNames, messageKey } from './safe-names.ts';
import { tableMetadata } from './table-metadata.ts';
import { wallTimes } from './wall-time.ts';

/** `recorded`: every decoded frame; `raster`: resampled. */
export type TableSet = 'recorded' | 'raster';

/**
 * Writes a table in each of the campaign's formats as `<set>/<bus>-<Message>.<format>`. The files
 * depend on the table, the source and `startUs` alone.
 */
export async function writeTable(
  table: StoredTable,
  set: TableSet,
  source: DatasetSource,
  startUs: number,
  effort: 'compact' | 'quick',
  writer: UnitWriter,
): Promise<ExportedFile[]> {
  const { bus, message } = table;
  const dbcSha256 = must(source.dbc[bus], `DBC of bus ${bus}`);
  const index = must(source.decoders.get(dbcSha256), `index of DBC ${dbcSha256}`);
  const traits = must(index.get(messageKey(message)), `message ${message.id} in its DBC`);
  const name = `${set}/${must(source.busNames.get(bus), `bus ${bus}`)}-${traits.fileName}`;
  const { formats, values: mode } = source.campaign.definition.export;
  const names = columnNames(table.columns.map((column) => column.name));
  const timeUs = wallTimes(table.timeUs, startUs);
  const columns = table.columns.map((column, at) => physicalColumn(column, names[at] ?? '', mode));
  const files: ExportedFile[] = [];
  for (const format of new Set(formats)) {
    const content =
      format === 'csv'
        ? csvTable(timeUs, columns)
        : [
            parquetTable(timeUs, columns, {
              effort,
              metadata: tableMetadata(table, set, names, traits, source),
              createdBy: source.software,
            }),
          ];
    files.push({ ...(await writer.add(`${name}.${format}`, content)), rows: timeUs.length });
  }
  return files;
}
