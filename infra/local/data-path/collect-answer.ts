import { TachographError } from '#kernel/core/errors.ts';
import type { AnswerHead, AnswerSink, Cancel, PathAnswer } from './path-request.ts';

export interface Collected {
  readonly onAnswer: (answer: PathAnswer) => void;
  readonly onError: (error: TachographError) => void;
}

/**
 * A sink for a whole answer. One above `maxBytes` is broken off with SERVICE_ANSWER_TOO_LARGE; `cancel`
 * is asked for then, when the request has long been under way.
 */
export function collectAnswer(
  service: string,
  maxBytes: number,
  { onAnswer, onError }: Collected,
  cancel: () => Cancel | undefined,
): AnswerSink {
  let head: AnswerHead | undefined;
  let bytes = 0;
  const pieces: Buffer[] = [];
  return {
    onHead: (given) => (head = given),
    onData: (piece) => {
      bytes += piece.length;
      if (bytes <= maxBytes) {
        pieces.push(piece);
        return;
      }
      cancel()?.();
      onError(new TachographError('SERVICE_ANSWER_TOO_LARGE', { service, maxBytes }));
    },
    onEnd: () => {
      const [first] = pieces;
      const body = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces);
      if (head !== undefined) onAnswer({ ...head, body });
    },
    onError,
  };
}
