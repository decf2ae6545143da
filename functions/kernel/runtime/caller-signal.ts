import type { ServerResponse } from 'node:http';

/** Aborts when the caller goes away before it was answered: nobody waits for the work any more. */
export function callerSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = (): void => {
    if (!response.writableFinished) {
      controller.abort(new Error('The caller closed the connection'));
    }
  };
  if (response.destroyed) onClose();
  else response.once('close', onClose);
  return controller.signal;
}
