import { batchId, sessionPrefix } from '#kernel/core/ids.ts';
import type { ReceiptFact, SessionFact, WindowFact } from '#kernel/facts/facts.ts';
import { readNewest, readPrefix } from '#kernel/store/read-prefix.ts';
import type { Store } from '#kernel/store/store.ts';
import { SessionState, type WindowRules } from './session-state.ts';

/**
 * Reads the receipts that may have come since the last reading: those after the unbroken run that is
 * known. Returns the windows whose set of batches may have changed.
 */
export async function readNewReceipts(
  store: Store,
  vehicle: string,
  session: string,
  state: SessionState,
): Promise<Set<number>> {
  const touched = new Set<number>();
  const from = batchId(vehicle, session, state.contiguousThrough + 1);
  const prefix = sessionPrefix(vehicle, session);
  for await (const found of readPrefix<ReceiptFact>(store, 'receipts', prefix, { from })) {
    for (const window of state.addReceipt(found.document)) touched.add(window);
  }
  return touched;
}

/** The state of a session as its facts tell it: closed windows first, then the receipts. */
export async function loadSession(
  store: Store,
  vehicle: string,
  session: string,
  rules: WindowRules,
): Promise<{ readonly state: SessionState; readonly touched: Set<number> }> {
  const state = new SessionState(rules);
  const prefix = sessionPrefix(vehicle, session);
  for await (const found of readPrefix<WindowFact>(store, 'windows', prefix)) {
    state.addWindow(found.document);
  }
  const newest = await readNewest<SessionFact>(store, 'sessions', prefix);
  if (newest !== undefined) state.addSession(newest.document);
  const touched = await readNewReceipts(store, vehicle, session, state);
  return { state, touched };
}
