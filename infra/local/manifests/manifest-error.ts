import { TachographError } from '#kernel/core/errors.ts';
import { placeText, type Place } from './located-node.ts';

/** MANIFEST_INVALID that begins with `file:line`. */
export function manifestError(at: Place, detail: string, cause?: unknown): TachographError {
  return new TachographError('MANIFEST_INVALID', { at: placeText(at), detail }, { cause });
}
