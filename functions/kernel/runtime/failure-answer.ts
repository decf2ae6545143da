import { errorBody, TachographError } from '../core/errors.ts';
import type { Log } from '../system/log.ts';

/** How a failed request is answered. */
export interface FailureAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReturnType<typeof errorBody>;
}

/**
 * Every failure becomes `{ error: { code, message, … } }`; what is no TachographError is a bug, whose
 * stack trace goes to the log only.
 */
export function failureAnswer(
  raw: unknown,
  asked: { readonly method: string; readonly path: string },
  log: Log,
): FailureAnswer {
  const error =
    raw instanceof TachographError ? raw : new TachographError('INTERNAL', {}, { cause: raw });
  if (error.kind === 'bug') {
    const stack = raw instanceof Error ? raw.stack : String(raw);
    log.error('request failed', { ...asked, stack });
  } else if (error.kind === 'retry') {
    log.warn('asked to try again', { path: asked.path, code: error.code, why: error.message });
  }
  const headers: Record<string, string> = error.kind === 'retry' ? { 'retry-after': '1' } : {};
  return { status: error.status, headers, body: errorBody(error) };
}
