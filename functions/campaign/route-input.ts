import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TachographError } from '#kernel/core/errors.ts';
import { bodyBytes, takeRawBodies } from '#kernel/runtime/raw-bodies.ts';

/**
 * Bodies as bytes, whatever their content type says (curl sends its own by default), and no run-
 * time schemas: they describe the routes, the code judges the values, with better words.
 */
export function takeJudgedBodies(app: FastifyInstance): void {
  takeRawBodies(app);
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
}

/** The body, or BODY_EMPTY. */
export function requiredBody(request: FastifyRequest, expected: string): Uint8Array {
  const bytes = bodyBytes(request);
  if (bytes.length === 0) throw new TachographError('BODY_EMPTY', { expected });
  return bytes;
}

/** An integer of the path, the query or a body; FIELD_INVALID outside [min, max]. */
export function integerField(
  field: string,
  value: unknown,
  fallback: number | undefined,
  [min, max]: readonly [min: number, max: number],
): number {
  if (value === undefined && fallback !== undefined) return fallback;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) {
    return number;
  }
  const allowed = `a whole number from ${min} to ${max}`;
  throw new TachographError('FIELD_INVALID', { field, value: String(value), allowed });
}
