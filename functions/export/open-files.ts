import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Store } from '#kernel/store/store.ts';
import type { ExportFiles } from './export-files.ts';
import { FolderFiles } from './folder-files.ts';
import { StoreFiles } from './store-files.ts';

/** `folder:PATH` (shared by all replicas) or `store:` (chunked facts). Throws FILES_URL_INVALID. */
export function openFiles(url: string, store: Store, clock: Clock): ExportFiles {
  if (url === 'store:') return new StoreFiles(store);
  const folder = /^folder:(.+)$/s.exec(url)?.[1];
  if (folder === undefined) throw new TachographError('FILES_URL_INVALID', { value: url });
  return new FolderFiles(folder, clock);
}
