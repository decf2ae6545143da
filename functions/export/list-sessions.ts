import { exportId, namePart, prefixEnd, sessionPrefix } from '#kernel/core/ids.ts';
import type { SessionFact } from '#kernel/facts/facts.ts';
import { readNewest } from '#kernel/store/read-prefix.ts';
import type { Store } from '#kernel/store/store.ts';

export interface ListedSession {
  readonly session: string;
  /** Newest revision of the session's closing; null while it is open. */
  readonly revision: number | null;
  /** The files of that revision are complete; until then its windows are in parts. */
  readonly compacted: boolean;
}

/** The first session with exports after `after`, by one look-up however many parts it has. */
async function nextSession(
  store: Store,
  vehicle: string,
  after: string | undefined,
): Promise<string | undefined> {
  const prefix = `${namePart(vehicle, 'vehicle')}/`;
  const from = after === undefined ? prefix : prefixEnd(sessionPrefix(vehicle, after));
  const [found] = await store.range('exports', from, prefixEnd(prefix), { limit: 1 });
  return found?.id.split('/')[1];
}

export async function describeSession(
  store: Store,
  vehicle: string,
  session: string,
): Promise<ListedSession> {
  const prefix = sessionPrefix(vehicle, session);
  const closing = await readNewest<SessionFact>(store, 'sessions', prefix);
  const revision = closing?.document.revision ?? null;
  const compacted =
    revision !== null &&
    (await store.get('exports', exportId(vehicle, session, null, revision))) !== undefined;
  return { session, revision, compacted };
}

/** Sessions of a vehicle that have exports, by name, after the given one; at most `limit`. */
export async function listSessions(
  store: Store,
  vehicle: string,
  after: string | undefined,
  limit: number,
): Promise<readonly ListedSession[]> {
  const sessions: ListedSession[] = [];
  let last = after;
  while (sessions.length < limit) {
    last = await nextSession(store, vehicle, last);
    if (last === undefined) break;
    sessions.push(await describeSession(store, vehicle, last));
  }
  return sessions;
}
