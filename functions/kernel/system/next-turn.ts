import { setImmediate } from 'node:timers/promises';

/** Lets what is waiting (connections, aborts, other handlers) run before long work goes on. */
export const nextTurn = (): Promise<void> => setImmediate();
