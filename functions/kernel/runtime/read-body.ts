import type { IncomingMessage } from 'node:http';
import { TachographError } from '../core/errors.ts';

/**
 * The whole body. Throws BODY_TOO_LARGE beyond `maxBytes` (the rest is not kept), CALLER_GONE when the
 * connection closes before its end.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const tooLarge = (): void => reject(new TachographError('BODY_TOO_LARGE', { maxBytes }));
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
      tooLarge();
      return;
    }
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= maxBytes) pieces.push(piece);
      else {
        pieces.length = 0;
        tooLarge();
      }
    });
    request.once('end', () => {
      resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces));
    });
    const gone = (): void => {
      // Every request closes: an error made for each, with its stack, is a tenth of a small event's work.
      if (!request.readableEnded) reject(new TachographError('CALLER_GONE'));
    };
    request.once('error', gone);
    request.once('close', gone);
  });
}
