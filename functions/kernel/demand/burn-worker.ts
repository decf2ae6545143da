import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../core/assert.ts';
import { TachographError } from '../core/errors.ts';
import { openBurner } from './open-burner.ts';
import type { WorkerAnswer, WorkerOrder, WorkerStart } from './worker-messages.ts';

/** The entry of a worker thread that burns what it is told, one burst at a time. */
const port = must(parentPort, 'burn-worker.ts runs as a worker thread');
const { needsClock, abortFlag } = workerData as WorkerStart;
const answer = (message: WorkerAnswer): void => port.postMessage(message);

try {
  const burner = await openBurner({ thread: 'worker', needsClock });
  const isAborted = (): boolean => Atomics.load(abortFlag, 0) === 1;
  port.on('message', (order: WorkerOrder) => {
    if (order === 'close') {
      burner.close();
      port.close();
      return;
    }
    try {
      answer({ kind: 'burned', report: burner.burn(order, isAborted) });
    } catch (error) {
      answer(failure(error));
    }
  });
  answer({ kind: 'ready' });
} catch (error) {
  answer(failure(error));
}

function failure(error: unknown): WorkerAnswer {
  const known = error instanceof TachographError;
  return {
    kind: 'failed',
    code: known ? error.code : null,
    detail: known ? String(error.fields['faults']) : String((error as Error).stack),
  };
}
