import { TachographError } from '#kernel/core/errors.ts';

/** What to do about what the system refuses; any other of its errors says enough by its message. */
const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: 'give yourself access to it, or name another path',
  EPERM: 'give yourself access to it, or name another path',
  EROFS: 'that file system is read-only; name a folder that can be written',
  ENOSPC: 'the disk is full; free some space, or name a folder on another disk',
  EDQUOT: 'your quota is used up; free some space, or name a folder on another disk',
  ENOTDIR: 'a part of the path is a file; name another path',
  ENOENT: 'check the path',
  EMFILE: 'too many files are open; raise the limit (ulimit -n)',
};

/** An expected error and one of the system in a sentence; a bug with its stack. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof TachographError) return error.message;
  const { code, errno } = error as NodeJS.ErrnoException;
  if (code !== undefined && errno !== undefined) {
    const remedy = REMEDIES[code];
    return remedy === undefined ? error.message : `${error.message}; ${remedy}`;
  }
  return 'errcode' in error ? error.message : (error.stack ?? error.message);
}
