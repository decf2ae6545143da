import type { Clock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import { redactUrl } from './redact-url.ts';
import type { Store } from './store.ts';

/**
 * Opens the store that `url` names: `sqlite:PATH`, `mongodb://…` or `mongodb+srv://…`.
 *
 * The adapter is imported only when it is used: the MongoDB driver alone costs a cold start some 95
 * ms.
 */
export async function openStore(url: string, clock: Clock): Promise<Store> {
  if (/^sqlite:./.test(url)) {
    const { openSqliteStore } = await import('./sqlite-store.ts');
    return openSqliteStore(url.slice('sqlite:'.length), clock);
  }
  if (/^mongodb(\+srv)?:\/\//.test(url)) {
    const { openMongoStore } = await import('./mongo-store.ts');
    return openMongoStore(url);
  }
  throw new TachographError('STORE_URL_INVALID', { value: redactUrl(url) });
}
