import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { errorBody, TachographError } from '../core/errors.ts';
import type { Log } from '../system/log.ts';
import { failureAnswer } from './failure-answer.ts';

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

/** Fastify's failures, answered as all others are. */
export function answerErrors(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((raw: FastifyError | TachographError, request, reply) => {
    const { bodyLimit } = request.routeOptions;
    const known = asTachographError(raw, bodyLimit ?? DEFAULT_BODY_BYTES) ?? raw;
    const asked = { method: request.method, path: request.url };
    const { status, headers, body } = failureAnswer(known, asked, log);
    return reply.status(status).headers(headers).send(body);
  });
  app.setNotFoundHandler((request, reply) => {
    const error = new TachographError('ROUTE_UNKNOWN', {
      method: request.method,
      path: request.url,
    });
    return reply.status(error.status).send(errorBody(error));
  });
}
