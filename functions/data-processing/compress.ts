import type { BlockCodec } from '#kernel/columns/block-format.ts';
import { encodeTables } from '#kernel/columns/encode-tables.ts';
import type { StoredTable } from '#kernel/columns/stored-table.ts';
import { type DecodedWindow, ownRows } from './decode.ts';

export interface CompressedWindow {
  /** The window's own frames, and its raster rows. */
  readonly recorded: Uint8Array;
  readonly raster: Uint8Array;
  /** Decoded values in `recorded`. */
  readonly samples: number;
}

/** The two blocks of a result, messages by bus, then id. Throws BLOCK_TOO_LARGE. */
export function compress(
  decoded: DecodedWindow,
  raster: readonly StoredTable[],
  codec: BlockCodec,
): CompressedWindow {
  const own = decoded.tables.map(ownRows).filter((table) => table.timeUs.length > 0);
  let samples = 0;
  for (const { present } of own.flatMap((table) => table.columns)) {
    for (const flag of present) samples += flag;
  }
  return {
    recorded: encodeTables(own, codec),
    raster: encodeTables(raster, codec),
    samples,
  };
}
