import type { FastifyRequest } from 'fastify';
import { TachographError } from '#kernel/core/errors.ts';
import { bodyBytes } from '#kernel/runtime/raw-bodies.ts';

/** The body, or BODY_EMPTY. */
export function requiredBody(request: FastifyRequest, expected: string): Uint8Array {
  const bytes = bodyBytes(request);
  if (bytes.length === 0) throw new TachographError('BODY_EMPTY', { expected });
  return bytes;
}
