import type { Collection, Store } from '../store/store.ts';
import { ATTRIBUTE } from './names.ts';
import type { StageTelemetry } from './stage-telemetry.ts';

/** Facts that an event or upload announces: to find one's own there already is to do something again. */
export const ANNOUNCED: ReadonlySet<Collection> = new Set([
  'batches',
  'windows',
  'sessions',
  'results',
  'exports',
]);

/** The store, whose calls are the phase `store` of the span that makes them. */
export function tracedStore(store: Store, telemetry: StageTelemetry): Store {
  const traced = async <T>(call: () => Promise<T>): Promise<T> => {
    const leave = telemetry.current()?.enter('store');
    if (leave === undefined) return call();
    try {
      return await call();
    } finally {
      leave();
    }
  };
  return {
    insert: async (...args) => {
      const inserted = await traced(() => store.insert(...args));
      const isRepeat = inserted.outcome === 'exists' && inserted.same && ANNOUNCED.has(args[0]);
      if (isRepeat) telemetry.current()?.set(ATTRIBUTE.duplicate, true);
      return inserted;
    },
    get: (...args) => traced(() => store.get(...args)),
    range: (...args) => traced(() => store.range(...args)),
    removePrefix: (...args) => traced(() => store.removePrefix(...args)),
    close: () => store.close(),
  };
}
