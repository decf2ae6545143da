import type { FastifyError, FastifyInstance } from 'fastify';
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
