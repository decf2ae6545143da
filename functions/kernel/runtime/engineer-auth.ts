import type { FastifyRequest } from 'fastify';
import { TachographError } from '../core/errors.ts';
import { checkEngineerToken } from '../system/check-engineer-token.ts';

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
  return async (request) => {
    checkEngineerToken(request.headers.authorization, tokenSha256);
  };
}
