import type { StoredTable } from '#kernel/columns/stored-table.ts';
import type { DatasetSource } from './dataset-source.ts';
import type { MessageTraits } from './decoder-index.ts';
import type { TableSet } from './table-files.ts';

/** Changes when a reader of the key-value metadata would have to change. */
const TABLE_SCHEMA = 'tachograph.table/1';

/**
 * Provenance of one file, for Parquet's key-value metadata. It names what the values follow from (raw
 * batches by their session, campaign, DBC, software) and nothing of how they arrived: no receive
 * times, no revisions, so that two runs over the same data give equal bytes.
 */
export function tableMetadata(
  table: StoredTable,
  set: TableSet,
  columnNames: readonly string[],
  traits: MessageTraits,
  source: DatasetSource,
): { key: string; value: string }[] {
  const { campaign, vehicle, session, software } = source;
  const { message, bus } = table;
  const signals = table.columns.map((column, at) => ({
    column: columnNames[at],
    signal: column.name,
    unit: column.unit,
    factor: column.factor,
    offset: column.offset,
    valueType: column.valueType,
    bitLength: column.bitLength,
    labels: traits.labels.get(column.name) ?? {},
  }));
  const entries: Readonly<Record<string, string>> = {
    schema: TABLE_SCHEMA,
    vehicle,
    session,
    campaign: campaign.campaign,
    campaignVersion: String(campaign.version),
    campaignSha256: campaign.definitionSha256,
    bus,
    message: message.name,
    messageId: String(message.id),
    extended: String(message.extended),
    dbcSha256: source.dbc[bus] ?? '',
    set,
    values: campaign.definition.export.values,
    software,
    signals: JSON.stringify(signals),
  };
  return Object.entries(entries).map(([key, value]) => ({ key: `tachograph.${key}`, value }));
}
