import { TachographError } from '#kernel/core/errors.ts';
import { credentialId, namePart, prefixEnd, timePart } from '#kernel/core/ids.ts';
import type { CredentialFact } from '#kernel/facts/facts.ts';
import { judgeToken, vehicleToken } from '#kernel/facts/vehicle-token.ts';
import { ENGINEER } from '#kernel/runtime/engineer-auth.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import { readNewest } from '#kernel/store/read-prefix.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';

/** `length` bytes that nobody can guess. */
export type RandomBytes = (length: number) => Uint8Array;

const TOKEN_BYTES = 32;
/** Two engineers at once need two attempts; more than this is not a coincidence. */
const MAX_ATTEMPTS = 5;
const MAX_HISTORY = 1_000;

export interface IssuedToken {
  /** Shown this once: only its hash is stored. */
  readonly token: string;
  readonly version: number;
  readonly expiresAtMs: number;
}

/** Issues a token. The newest two of a vehicle are valid; with a third the oldest ends. */
export async function issueToken(
  vehicle: string,
  ttlS: number,
  randomBytes: RandomBytes,
  context: StageContext,
): Promise<IssuedToken> {
  const token = vehicleToken(namePart(vehicle, 'vehicle'), randomBytes(TOKEN_BYTES));
  const nowMs = context.clock.nowMs();
  const fact = await insertNext(
    {
      vehicle,
      action: 'issued',
      tokenSha256: sha256Hex(token),
      notBeforeMs: nowMs,
      expiresAtMs: nowMs + ttlS * 1_000,
      createdAtMs: nowMs,
    },
    context,
  );
  return { token, version: fact.version, expiresAtMs: fact.expiresAtMs };
}

/** Revokes the token that was issued as `version`. One that is revoked already stays so. */
export async function revokeToken(
  vehicle: string,
  version: number,
  context: StageContext,
): Promise<void> {
  const document = await context.store.get('credentials', credentialId(vehicle, version));
  const issued = document as unknown as CredentialFact | undefined;
  if (issued?.action !== 'issued') {
    throw new TachographError('VEHICLE_TOKEN_NOT_FOUND', { vehicle, version });
  }
  const nowMs = context.clock.nowMs();
  const tokenSha256 = issued.tokenSha256;
  const history = await newestCredentials(vehicle, MAX_HISTORY, context);
  if (judgeToken(history, tokenSha256 ?? '', nowMs).verdict === 'revoked') return;
  await insertNext(
    {
      vehicle,
      action: 'revoked',
      tokenSha256,
      notBeforeMs: nowMs,
      expiresAtMs: nowMs,
      createdAtMs: nowMs,
    },
    context,
  );
}

async function insertNext(
  change: Omit<CredentialFact, 'version'>,
  context: StageContext,
): Promise<CredentialFact> {
  const { vehicle, action, createdAtMs } = change;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const newest = await readNewest<CredentialFact>(context.store, 'credentials', `${vehicle}/`);
    const fact = { ...change, version: (newest?.document.version ?? 0) + 1 };
    const id = credentialId(vehicle, fact.version);
    const { outcome } = await context.store.insert('credentials', id, fact);
    if (outcome === 'created') {
      const audit = { atMs: createdAtMs, by: ENGINEER, what: `token ${action}`, vehicle };
      const auditId = `${timePart(createdAtMs)}/token/${id}`;
      await context.store.insert('audit', auditId, { ...audit, version: fact.version });
      return fact;
    }
  }
  throw new TachographError('VEHICLE_TOKENS_RACE', { vehicle });
}

/** What was done to a vehicle's tokens, newest first, without the hashes. */
export async function listTokens(
  vehicle: string,
  limit: number,
  context: StageContext,
): Promise<readonly Omit<CredentialFact, 'tokenSha256'>[]> {
  const facts = await newestCredentials(vehicle, limit, context);
  return facts.map(({ tokenSha256: _hidden, ...shown }) => shown);
}

async function newestCredentials(
  vehicle: string,
  limit: number,
  context: StageContext,
): Promise<readonly CredentialFact[]> {
  const prefix = `${namePart(vehicle, 'vehicle')}/`;
  const options = { limit, descending: true };
  const found = await context.store.range('credentials', prefix, prefixEnd(prefix), options);
  return found.map(({ document }) => document as unknown as CredentialFact);
}
