import { exportId, sessionPrefix } from '#kernel/core/ids.ts';

/** What is written and announced at once: a window's part, or a session's compacted files. */
export interface ExportUnit {
  readonly vehicle: string;
  readonly session: string;
  /** null: the whole session. */
  readonly window: number | null;
  readonly revision: number;
}

export const PARTS_FOLDER = 'parts';
export const SIDECAR = 'session.json';

/** `<vehicle>/<session>`, checked: the start of every path below the export root. */
export const sessionFolder = (vehicle: string, session: string): string =>
  sessionPrefix(vehicle, session).slice(0, -1);

/** `00000007-0001`: window 7, revision 1. */
function partName(window: number, revision: number): string {
  const id = exportId('v', 's', window, revision);
  return id.slice('v/s/'.length).replace('/', '-');
}

/** The unit's folder, relative to the export root. */
export function unitFolder({ vehicle, session, window, revision }: ExportUnit): string {
  const folder = sessionFolder(vehicle, session);
  return window === null ? folder : `${folder}/${PARTS_FOLDER}/${partName(window, revision)}`;
}

/** Window and revision of a part's folder name; undefined for any other name. */
export function parsePartName(name: string): { window: number; revision: number } | undefined {
  const match = /^(\d{8})-(\d{4})$/.exec(name);
  return match === null ? undefined : { window: Number(match[1]), revision: Number(match[2]) };
}

const SESSION_FILE = new RegExp(
  `^(?:${SIDECAR.replace('.', '\\.')}|(?:${PARTS_FOLDER}/\\d{8}-\\d{4}/)?` +
    '(?:recorded|raster)/[A-Za-z0-9_~][A-Za-z0-9._~-]{0,240}\\.(?:parquet|csv))$',
);

/** Whether a path below `<vehicle>/<session>/` can name an exported file: nothing else is ever opened. */
export const isSessionFile = (path: string): boolean => SESSION_FILE.test(path);
