import type { FastifyReply } from 'fastify';

/** Aborts when the caller goes away before it was answered: nobody waits for the work any more. */
export function callerSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const onClose = (): void => {
    if (!raw.writableFinished) controller.abort(new Error('The caller closed the connection'));
  };
  if (raw.destroyed) onClose();
  else raw.once('close', onClose);
  return controller.signal;
}
