import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { createExportStage } from '#functions/export/function.ts';
import type { Store } from '#kernel/store/store.ts';
import { testContext, type TestContext } from './session-facts.ts';

/** A new empty export root below the system's temporary folder; the caller removes it. */
export const newRoot = (): string => mkdtempSync(join(tmpdir(), 'tachograph-export-'));

/** A replica of the stage over a store, with an export folder that others may share. */
export function replica(store: Store, root: string) {
  const stage = createExportStage({
    filesUrl: `folder:${root}`,
    engineerTokenSha256: 'a'.repeat(64),
  });
  const context = testContext(store);
  return {
    root,
    /** The session's folder. */
    folder: join(root, 'v1', 's1'),
    emitted: context.emitted,
    handle: (
      event: CloudEvent,
      change: Partial<TestContext> = {},
      signal = new AbortController().signal,
    ) => stage.handle(event, { ...context, ...change }, signal),
  };
}

/** Paths of all files below a folder, sorted; none where there is no folder. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Data files and their bytes in base64; the sidecar may differ between equal sessions. */
export const bytesBelow = (folder: string): Record<string, string> =>
  Object.fromEntries(
    filesBelow(folder)
      .filter((name) => !name.endsWith('.json'))
      .map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  );

export const sidecarIn = (folder: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(folder, 'session.json'), 'utf8')) as Record<string, unknown>;

/** What a compacted test session consists of. */
export const COMPACTED = [
  'raster/can0-MOTION.csv',
  'raster/can0-MOTION.parquet',
  'recorded/can0-MOTION.csv',
  'recorded/can0-MOTION.parquet',
  'recorded/can0-ODO.csv',
  'recorded/can0-ODO.parquet',
  'session.json',
];
