import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import type { Socket } from 'node:net';
import { errorBody, TachographError } from '../core/errors.ts';
import type { Log } from '../system/log.ts';

/** Of a route that sets no limit of its own. */
export const DEFAULT_BODY_BYTES = 1_048_576;

/** Fastify's own refusals in the words of our table. */
function asTachographError(
  error: FastifyError | TachographError,
  maxBytes: number,
): TachographError | undefined {
  if (error instanceof TachographError) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new TachographError('BODY_TOO_LARGE', { maxBytes }, { cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new TachographError('MEDIA_TYPE_UNKNOWN', {}, { cause: error });
    default:
  }
  if (error.validation !== undefined || (error.statusCode ?? 500) < 500) {
    return new TachographError('REQUEST_INVALID', { detail: error.message }, { cause: error });
  }
  return undefined;
}

/** What fastify refuses before a route is found (a path that is no URL), in the same words. */
export function answerBadUrl(error: FastifyError, _request: unknown, reply: FastifyReply): void {
  const known = new TachographError('REQUEST_INVALID', { detail: error.message });
  void reply.status(known.status).send(errorBody(known));
}

/** What Node's parser refuses: broken framing, headers beyond its bounds, a request too slow. */
const BROKEN: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers on the bare socket, in the same words, and closes: nothing after it can be trusted. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
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

/** Every failure becomes `{ error: { code, message, … } }`; a stack trace goes to the log only. */
export function answerErrors(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((raw: FastifyError | TachographError, request, reply) => {
    const { bodyLimit } = request.routeOptions;
    const error =
      asTachographError(raw, bodyLimit ?? DEFAULT_BODY_BYTES) ??
      new TachographError('INTERNAL', {}, { cause: raw });
    if (error.kind === 'bug') {
      const stack = raw instanceof Error ? raw.stack : String(raw);
      log.error('request failed', { method: request.method, path: request.url, stack });
    } else if (error.kind === 'retry') {
      log.warn('asked to try again', { path: request.url, code: error.code, why: error.message });
    }
    void reply.status(error.status);
    if (error.kind === 'retry') void reply.header('retry-after', '1');
    return reply.send(errorBody(error));
  });
  app.setNotFoundHandler((request, reply) => {
    const error = new TachographError('ROUTE_UNKNOWN', {
      method: request.method,
      path: request.url,
    });
    return reply.status(error.status).send(errorBody(error));
  });
}
