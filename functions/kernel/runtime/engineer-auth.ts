import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { TachographError } from '../core/errors.ts';
import { sha256Hex } from '../system/sha256.ts';

/**
 * Whom facts and audit name: there is one engineers' token, so no person can be told from another.
 */
export const ENGINEER = 'engineer';

/** A fastify `onRequest` hook: nothing of a body is read from somebody without the token. */
export type AuthHook = (request: FastifyRequest) => Promise<void>;

/**
 * Lets only requests pass that carry the engineers' token as a bearer token.
 *
 * `tokenSha256` is its hash (ENGINEER_TOKEN_SHA256). A stage with an engineers' API refuses to
 * start without one (CONFIG_INVALID): an open API must never be the result of a forgotten setting.
 */
export function engineerAuth(tokenSha256: string): AuthHook {
  if (!/^[0-9a-f]{64}$/.test(tokenSha256)) {
    throw new TachographError('CONFIG_INVALID', {
      name: 'ENGINEER_TOKEN_SHA256',
      value: tokenSha256 === '' ? '(not set)' : `(${tokenSha256.length} characters)`,
      remedy: "set it to the SHA-256 of the engineers' token, 64 lower-case hex digits",
    });
  }
  const expected = Buffer.from(tokenSha256, 'hex');
  return async (request) => {
    // The scheme's name is case-insensitive (RFC 9110 11.1).
    const token = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new TachographError('ENGINEER_TOKEN_MISSING');
    const actual = Buffer.from(sha256Hex(token), 'hex');
    if (!timingSafeEqual(actual, expected)) throw new TachographError('ENGINEER_TOKEN_INVALID');
  };
}
