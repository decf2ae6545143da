import { TachographError } from '../core/errors.ts';
import { sameSha256 } from './same-sha256.ts';
import { sha256Hex } from './sha256.ts';

/**
 * Lets an Authorization header with the engineers' token pass; throws ENGINEER_TOKEN_MISSING or
 * ENGINEER_TOKEN_INVALID. `tokenSha256`: hex SHA-256 of the token.
 */
export function checkEngineerToken(authorization: string | undefined, tokenSha256: string): void {
  // The scheme's name is case-insensitive (RFC 9110 11.1).
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw new TachographError('ENGINEER_TOKEN_MISSING');
  if (!sameSha256(sha256Hex(token), tokenSha256)) {
    throw new TachographError('ENGINEER_TOKEN_INVALID');
  }
}
