import { TachographError } from '#kernel/core/errors.ts';
import { plainText } from './manifests/located-node.ts';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';
import { parsePingSchedule, type PingSchedule } from './ping-schedule.ts';

/** What a PingSource sends, and when. */
export interface PingSpec {
  readonly name: string;
  readonly namespace: string;
  readonly schedule: PingSchedule;
  readonly contentType: string;
  readonly data: string;
}

/** Reads a PingSource whose fields have been checked; throws MANIFEST_INVALID. */
export function readPing(manifest: PlainManifest): PingSpec {
  const { name, namespace = 'default' } = manifest.metadata;
  const text = plainText(manifest.spec?.['schedule']) ?? '';
  const schedule = parsePingSchedule(text);
  if (schedule === undefined) {
    const detail = `schedule "${text}": use minutes (*/N, or a list) and four *`;
    throw new TachographError('MANIFEST_INVALID', { at: `PingSource ${name}`, detail });
  }
  return {
    name,
    namespace,
    schedule,
    contentType: plainText(manifest.spec?.['contentType']) ?? 'application/json',
    data: plainText(manifest.spec?.['data']) ?? '',
  };
}
