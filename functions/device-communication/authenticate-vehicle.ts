import { TachographError } from '#kernel/core/errors.ts';
import { namePart, prefixEnd } from '#kernel/core/ids.ts';
import type { CredentialFact } from '#kernel/facts/facts.ts';
import { judgeToken, vehicleOfToken } from '#kernel/facts/vehicle-token.ts';
import type { Store } from '#kernel/store/store.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';

/** Only the newest facts are looked at: two tokens can be valid, the rest is history. */
const MAX_CREDENTIAL_FACTS = 50;
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

/**
 * Returns when the bearer token is a valid one of the vehicle. Throws TOKEN_MISSING, TOKEN_UNKNOWN,
 * TOKEN_REVOKED, TOKEN_EXPIRED, TOKEN_NOT_YET_VALID (401), VEHICLE_FORBIDDEN (403: another
 * vehicle's).
 */
export async function authenticateVehicle(
  authorization: string | undefined,
  vehicle: string,
  store: Store,
  nowMs: number,
): Promise<void> {
  const token = BEARER.exec(authorization ?? '')?.[1];
  if (token === undefined) throw new TachographError('TOKEN_MISSING');
  // A token is judged for the vehicle it names: whether it strayed is told only to its owner.
  const owner = vehicleOfToken(token) ?? namePart(vehicle, 'vehicle');
  const prefix = `${owner}/`;
  const found = await store.range('credentials', prefix, prefixEnd(prefix), {
    limit: MAX_CREDENTIAL_FACTS,
    descending: true,
  });
  const facts = found.map(({ document }) => document as unknown as CredentialFact);
  const judged = judgeToken(facts, sha256Hex(token), nowMs);
  switch (judged.verdict) {
    case 'valid':
      if (owner !== vehicle) throw new TachographError('VEHICLE_FORBIDDEN', { vehicle });
      return;
    case 'unknown':
      throw new TachographError('TOKEN_UNKNOWN');
    case 'revoked':
      throw new TachographError('TOKEN_REVOKED');
    case 'expired': {
      const expiredAt = new Date(judged.atMs).toISOString();
      throw new TachographError('TOKEN_EXPIRED', { expiredAt });
    }
    case 'notYetValid': {
      const validFrom = new Date(judged.atMs).toISOString();
      throw new TachographError('TOKEN_NOT_YET_VALID', { validFrom });
    }
  }
}
