import { exportId, sessionPrefix } from '#kernel/core/ids.ts';
import type { ExportUnit } from './export-unit.ts';

type UnitFacts = 'chunk' | 'manifest';

/** `<vehicle>/<session>/<facts>/<parts|session>/`: a session's units of one kind. */
export const unitsPrefix = (
  vehicle: string,
  session: string,
  facts: UnitFacts,
  units: 'parts' | 'session',
): string => `${sessionPrefix(vehicle, session)}${facts}/${units}/`;

/** `<vehicle>/<session>/<facts>/parts/00000007/0001/` or `<vehicle>/<session>/<facts>/session/0001/`. */
export function unitPrefix(unit: ExportUnit, facts: UnitFacts): string {
  const { vehicle, session, window, revision } = unit;
  const start = sessionPrefix(vehicle, session);
  const rest = exportId(vehicle, session, window, revision).slice(start.length);
  return `${start}${facts}/${window === null ? '' : 'parts/'}${rest}/`;
}
