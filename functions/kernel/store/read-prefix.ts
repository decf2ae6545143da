import { prefixEnd } from '../core/ids.ts';
import type { Collection, Found, Store } from './store.ts';

/**
 * All documents whose id starts with `prefix` (from `from` on, when given), in the order of their ids,
 * fetched page by page so that memory stays bounded by one page.
 */
export async function* readPrefix<T>(
  store: Store,
  collection: Collection,
  prefix: string,
  options: { readonly from?: string; readonly pageSize?: number } = {},
): AsyncGenerator<Found<T>> {
  const limit = options.pageSize ?? 1_000;
  const to = prefixEnd(prefix);
  let from = options.from ?? prefix;
  for (;;) {
    const page = await store.range(collection, from, to, { limit });
    // The store keeps what the stages wrote; the caller names the type of its own collection.
    for (const found of page) yield found as unknown as Found<T>;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    // The next id after `last.id` in byte order.
    from = `${last.id}\u0000`;
  }
}

/** The document with the highest id under a prefix (the newest revision or version), if any. */
export async function readNewest<T>(
  store: Store,
  collection: Collection,
  prefix: string,
): Promise<Found<T> | undefined> {
  const page = await store.range(collection, prefix, prefixEnd(prefix), {
    limit: 1,
    descending: true,
  });
  return page[0] as unknown as Found<T> | undefined;
}
