import type { ServerResponse } from 'node:http';
import { forwardedHeaders } from './gateway-headers.ts';
import type { AnswerFlow, Cancel, PathRequest } from './path-request.ts';
import type { ServicePath } from './service-path.ts';

/**
 * Sends a request on its path and streams the answer to `response`, no faster than its caller reads.
 * When the caller goes away, the request is broken off.
 *
 * Resolves when the answer is out, or the caller is gone; rejects with the path's error, before the
 * answer's head (nothing is out) or after it (half an answer is).
 */
export async function passAnswer(
  path: ServicePath,
  request: PathRequest,
  response: ServerResponse,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Its caller went away while the body was being read.
  if (response.destroyed) return;
  let answer: AnswerFlow | undefined;
  let cancel: Cancel | undefined;
  const onDrain = (): void => answer?.resume();
  const onClose = (): void => {
    cancel?.();
    resolve();
  };
  response.on('drain', onDrain).once('close', onClose);
  cancel = path.dispatch(request, {
    onHead: ({ status, rawHeaders }, flow) => {
      answer = flow;
      response.writeHead(status, forwardedHeaders(rawHeaders));
    },
    onData: (piece) => {
      if (!response.write(piece)) answer?.pause();
    },
    // What is left to write is the caller's and the system's matter; `close` follows.
    onEnd: () => response.end(resolve),
    onError: reject,
  });
  try {
    await promise;
  } finally {
    response.off('drain', onDrain).off('close', onClose);
  }
}
