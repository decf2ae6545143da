import { TachographError } from '#kernel/core/errors.ts';

export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;

/** A full disk or a lost mount is worth another try: the caller keeps its event. */
export const filesUnavailable = (action: string, cause: unknown): TachographError =>
  cause instanceof TachographError
    ? cause
    : new TachographError(
        'FILES_UNAVAILABLE',
        { action, detail: errorCode(cause) ?? String(cause) },
        { cause },
      );
