import { TachographError } from './errors.ts';

/**
 * The grammar of every fact's id: parts joined by "/", each either a name or a padded number, so that
 * a range of ids is a sensible list. Example: batch 42 of session `s1` of vehicle `v1` is
 * `v1/s1/00000042`; its window 7, revision 1, is `v1/s1/00000007/0001`.
 */
const NAME = /^[A-Za-z0-9._~-]{1,64}$/;

/** 100,000 batches a session: 27 hours of 1 s batches, 69 days of 60 s batches. A session is one power cycle. */
export const MAX_SEQ = 99_999;
export const MAX_WINDOW = 99_999_999;
const MAX_REVISION = 9_999;
const MAX_VERSION = 999_999;

/** Wider than MAX_SEQ needs, so that the bound can grow without a change of the ids' order. */
const SEQ_DIGITS = 8;

/** Whether a value can be a name part (vehicle, session, campaign, bus …). "." and ".." cannot. */
export const isNamePart = (value: unknown): value is string =>
  typeof value === 'string' && NAME.test(value) && value !== '.' && value !== '..';

/** Checks a name part and returns it. */
export function namePart(value: unknown, what: string): string {
  if (isNamePart(value)) return value;
  throw new TachographError('ID_PART_INVALID', { what, value: String(value) });
}

function numberPart(
  value: unknown,
  what: string,
  max: number,
  digits = String(max).length,
): string {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) {
    return String(value).padStart(digits, '0');
  }
  throw new TachographError('ID_NUMBER_INVALID', { what, value: String(value), max });
}

export const sessionPrefix = (vehicle: string, session: string): string =>
  `${namePart(vehicle, 'vehicle')}/${namePart(session, 'session')}/`;

/** `batches` and `receipts`. */
export const batchId = (vehicle: string, session: string, seq: number): string =>
  sessionPrefix(vehicle, session) + numberPart(seq, 'sequence number', MAX_SEQ, SEQ_DIGITS);

/** `bindings`: what a session is recorded for. */
export const bindingId = (vehicle: string, session: string): string =>
  `${sessionPrefix(vehicle, session)}campaign`;

export const windowPrefix = (vehicle: string, session: string, window: number): string =>
  `${sessionPrefix(vehicle, session)}${numberPart(window, 'window', MAX_WINDOW)}/`;

/** `windows`. Revisions count from 1. */
export const windowId = (
  vehicle: string,
  session: string,
  window: number,
  revision: number,
): string =>
  windowPrefix(vehicle, session, window) + numberPart(revision, 'revision', MAX_REVISION);

/** `sessions`. Revisions count from 1. */
export const sessionId = (vehicle: string, session: string, revision: number): string =>
  sessionPrefix(vehicle, session) + numberPart(revision, 'revision', MAX_REVISION);

/** `exports`: a window's part, or the session's compacted files (window null, the session's revision). */
export const exportId = (
  vehicle: string,
  session: string,
  window: number | null,
  revision: number,
): string =>
  window === null
    ? `${sessionPrefix(vehicle, session)}session/${numberPart(revision, 'revision', MAX_REVISION)}`
    : windowId(vehicle, session, window, revision);

/** `results`; `versions` names what the result depends on beside the window (see resultVersions). */
export const resultId = (
  vehicle: string,
  session: string,
  window: number,
  revision: number,
  versions: string,
): string =>
  `${windowId(vehicle, session, window, revision)}/${namePart(versions, 'result versions')}`;

/**
 * The versions of a result that nothing was computed for. "-" sorts before everything else a name may
 * begin with, so that a real result of the same window counts as the newer one.
 */
export const EMULATED_VERSIONS = '-emulated';

/** `campaigns`. Versions count from 1; the newest is the highest id. */
export const campaignId = (campaign: string, version: number): string =>
  `${namePart(campaign, 'campaign')}/${numberPart(version, 'campaign version', MAX_VERSION)}`;

/** `credentials`. */
export const credentialId = (vehicle: string, version: number): string =>
  `${namePart(vehicle, 'vehicle')}/${numberPart(version, 'credential version', MAX_VERSION)}`;

/** `quarantine`: a second, different batch under a used key, told apart by its content hash. */
export const quarantineId = (
  vehicle: string,
  session: string,
  seq: number,
  sha256: string,
): string => `${batchId(vehicle, session, seq)}/${namePart(sha256, 'hash')}`;

/** Time as an id part that sorts: `2026-11-30T22.43.01.123Z` (":" is not a name character). */
export const timePart = (ms: number): string => new Date(ms).toISOString().replaceAll(':', '.');

/** The first id after every id that starts with `prefix`: the exclusive end of a prefix range. */
export const prefixEnd = (prefix: string): string => `${prefix}\u{10FFFF}`;
