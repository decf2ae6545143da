import { TachographError } from '#kernel/core/errors.ts';
import type { ExportFiles } from './export-files.ts';
import { sessionFolder, SIDECAR } from './export-unit.ts';
import type { SIDECAR_SCHEMA } from './session-sidecar.ts';

/** The part of `session.json` that the program itself reads. */
export interface ReadSidecar {
  readonly schema: typeof SIDECAR_SCHEMA;
  readonly revision: number;
  readonly [field: string]: unknown;
}

/** The session's account as published, or undefined before its first compaction. */
export async function readSidecar(
  files: ExportFiles,
  vehicle: string,
  session: string,
): Promise<ReadSidecar | undefined> {
  const path = `${sessionFolder(vehicle, session)}/${SIDECAR}`;
  const file = await files.open(path);
  if (file === undefined) return undefined;
  try {
    const pieces: Uint8Array[] = [];
    for await (const piece of file.read(0, file.bytes)) pieces.push(piece);
    return JSON.parse(Buffer.concat(pieces).toString('utf8')) as ReadSidecar;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new TachographError('FILES_DAMAGED', { path, detail: error.message }, { cause: error });
  } finally {
    await file.close();
  }
}
