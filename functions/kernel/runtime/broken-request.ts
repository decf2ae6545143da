import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorBody, TachographError } from '../core/errors.ts';

/** What Node's parser refuses: broken framing, headers beyond its bounds, a request too slow. */
const BROKEN: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers on the bare socket, in the words of our table, and closes: nothing after it can be trusted. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket | Duplex): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
  const status = BROKEN[error.code ?? ''] ?? 400;
  const known = new TachographError('REQUEST_INVALID', { detail: 'it is not proper HTTP' });
  const body = JSON.stringify(errorBody(known));
  const head = [
    `HTTP/1.1 ${status} ${status === 400 ? 'Bad Request' : 'Refused'}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
