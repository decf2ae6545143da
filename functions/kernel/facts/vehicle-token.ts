import { sameSha256 } from '../system/same-sha256.ts';
import { isNamePart } from '../core/ids.ts';
import type { CredentialFact } from './facts.ts';

/** Rotation: the token in use and its successor are valid at the same time. */
const MAX_VALID_TOKENS = 2;

/**
 * A vehicle's token: its name and its secret, `veh-1.4Zq…`. The name makes a token that strayed to
 * another vehicle tell itself (403), and is no secret; the base64url of the secret holds no dot.
 */
export const vehicleToken = (vehicle: string, secret: Uint8Array): string =>
  `${vehicle}.${Buffer.from(secret).toString('base64url')}`;

/** The vehicle a token names, or undefined for one of another form. Proves nothing by itself. */
export function vehicleOfToken(token: string): string | undefined {
  const dot = token.lastIndexOf('.');
  const vehicle = token.slice(0, Math.max(0, dot));
  return isNamePart(vehicle) ? vehicle : undefined;
}

export type TokenVerdict =
  | { readonly verdict: 'valid' | 'unknown' | 'revoked' }
  | { readonly verdict: 'expired' | 'notYetValid'; readonly atMs: number };

/**
 * Judges a token (its hex SHA-256) by the vehicle's credential facts, newest first.
 *
 * The two newest tokens that were not revoked can be valid; older ones count as revoked. A
 * revocation names a token by its hash, or with null means every token issued before it.
 */
export function judgeToken(
  newestFirst: readonly CredentialFact[],
  tokenSha256: string,
  nowMs: number,
): TokenVerdict {
  const revoked = new Set<string>();
  let allRevoked = false;
  let issuedAfter = 0;
  for (const fact of newestFirst) {
    if (fact.action === 'revoked') {
      if (fact.tokenSha256 === null) allRevoked = true;
      else revoked.add(fact.tokenSha256);
      continue;
    }
    const isRevoked = allRevoked || revoked.has(fact.tokenSha256 ?? '');
    if (sameSha256(fact.tokenSha256 ?? '', tokenSha256)) {
      if (isRevoked || issuedAfter >= MAX_VALID_TOKENS) return { verdict: 'revoked' };
      return judgeTime(fact, nowMs);
    }
    if (!isRevoked) issuedAfter++;
  }
  return { verdict: 'unknown' };
}

/** Valid in [notBeforeMs, expiresAtMs). */
function judgeTime(fact: CredentialFact, nowMs: number): TokenVerdict {
  if (nowMs < fact.notBeforeMs) return { verdict: 'notYetValid', atMs: fact.notBeforeMs };
  if (nowMs >= fact.expiresAtMs) return { verdict: 'expired', atMs: fact.expiresAtMs };
  return { verdict: 'valid' };
}
