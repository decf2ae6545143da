import { TachographError } from '#kernel/core/errors.ts';
import type { BatchTrace } from './trace-analysis.ts';

const MAX_TOLD = 5;

/**
 * The trace that a person means: by its id or the beginning of it (4 digits or more), or by its batch,
 * `vehicle/session/seq` or `vehicle/seq`. Throws TRACE_UNKNOWN where there is none, or more than one.
 */
export function findTrace(traces: readonly BatchTrace[], wanted: string): BatchTrace {
  const found = traces.filter((trace) => isMeant(trace, wanted));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const told = (found.length === 0 ? slowestOf(traces) : found)
    .slice(0, MAX_TOLD)
    .map(({ vehicle, session, seq }) => `${vehicle}/${session}/${seq}`);
  const what = found.length === 0 ? 'none' : `${found.length} of them`;
  const known =
    told.length === 0 ? 'this run has no sampled trace' : `for instance ${told.join(', ')}`;
  throw new TachographError('TRACE_UNKNOWN', { value: wanted, what, known });
}

function isMeant({ traceId, vehicle, session, seq }: BatchTrace, wanted: string): boolean {
  if (/^[0-9a-f]{4,32}$/.test(wanted) && traceId.startsWith(wanted)) return true;
  const parts = wanted.split('/');
  const number = parts.at(-1) ?? '';
  if (!/^\d{1,15}$/.test(number) || Number(number) !== seq) return false;
  if (parts.length === 2) return parts[0] === vehicle;
  return parts.length === 3 && parts[0] === vehicle && parts[1] === session;
}

const slowestOf = (traces: readonly BatchTrace[]): readonly BatchTrace[] =>
  [...traces].sort((a, b) => (b.totalMs ?? 0) - (a.totalMs ?? 0));
