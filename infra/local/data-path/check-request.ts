import { TachographError } from '#kernel/core/errors.ts';

/** What of a request's head is looked at. */
export interface RequestHead {
  readonly url?: string | undefined;
  readonly method?: string | undefined;
  /** `name, value, name, value …`, with repetitions. */
  readonly rawHeaders: readonly string[];
}

/**
 * Throws REQUEST_INVALID for what is valid to the parser but cannot be passed on: a target that is not
 * a path (`OPTIONS *`, `GET http://host/path`), more than one Host (RFC 9112, 3.2), and TRACE, whose
 * answer would repeat the caller's credentials.
 */
export function checkRequest({ url = '/', method, rawHeaders }: RequestHead): void {
  if (method === 'TRACE') throw invalid('TRACE is not served here');
  if (!url.startsWith('/')) {
    throw invalid(`the target "${url}" is not a path; send one such as /<service>/`);
  }
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length;
  if (hosts > 1) throw invalid(`there are ${hosts} Host headers; send one`);
}

const invalid = (detail: string): TachographError =>
  new TachographError('REQUEST_INVALID', { detail });
