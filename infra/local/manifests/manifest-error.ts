import { TachographError } from '#kernel/core/errors.ts';
import { placeText, type Place } from './located-node.ts';

/** MANIFEST_INVALID that begins with `file:line`. */
export function manifestError(at: Place, detail: string, cause?: unknown): TachographError {
  return new TachographError('MANIFEST_INVALID', { at: placeText(at), detail }, { cause });
}

/** What is wrong at one place. */
interface PlacedFault {
  readonly at: Place;
  readonly message: string;
}

/** Throws one MANIFEST_INVALID for all of them: begins with the first one's `file:line`. */
export function throwFaults(faults: readonly PlacedFault[]): void {
  const [first, ...others] = faults;
  if (first === undefined) return;
  const also = others.map(({ at, message }) => `${placeText(at)}: ${message}`);
  throw manifestError(first.at, [first.message, ...also].join('; '));
}
