import { TachographError } from '../../core/errors.ts';
import type { Clock } from '../../core/clock.ts';
import type { Store } from '../../store/store.ts';
import { ANNOUNCED } from '../traced-store.ts';
import type { StageMetrics } from './stage-metrics.ts';

/** The store, whose calls are counted with how long they took. */
export function meteredStore(store: Store, metrics: StageMetrics, clock: Clock): Store {
  const metered = async <T>(
    operation: string,
    collection: string,
    call: () => Promise<T>,
  ): Promise<T> => {
    const fromMs = clock.monotonicMs();
    let code = '';
    try {
      return await call();
    } catch (error) {
      code = error instanceof TachographError ? error.code : 'INTERNAL';
      throw error;
    } finally {
      metrics.stored(operation, collection, clock.monotonicMs() - fromMs, code);
    }
  };
  return {
    insert: async (...args) => {
      const inserted = await metered('insert', args[0], () => store.insert(...args));
      const isRepeat = inserted.outcome === 'exists' && inserted.same && ANNOUNCED.has(args[0]);
      if (isRepeat) metrics.duplicate();
      return inserted;
    },
    get: (...args) => metered('get', args[0], () => store.get(...args)),
    range: (...args) => metered('range', args[0], () => store.range(...args)),
    removePrefix: (...args) => metered('remove', args[0], () => store.removePrefix(...args)),
    close: () => store.close(),
  };
}
