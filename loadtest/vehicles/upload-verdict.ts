/** What an attempt to upload a batch (or to check in) came to. */
export type Verdict =
  | { readonly kind: 'stored' }
  /** Stored before: the answer of an earlier attempt was lost. */
  | { readonly kind: 'duplicate' }
  /** 4xx: asking again would change nothing. */
  | { readonly kind: 'refused'; readonly status: number; readonly detail: string }
  | { readonly kind: 'retry'; readonly retryAfterMs: number; readonly detail: string };

export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A Retry-After is honoured up to this long: a vehicle must not be silenced for ever by one answer. */
export const MAX_RETRY_AFTER_MS = 300_000;

/** Text of an answer that is kept for the account. */
const MAX_DETAIL_CHARACTERS = 300;

/**
 * 2xx: stored, or duplicate where the answer says so. 429 and 5xx: try again, not before Retry-After.
 * Every other status: refused.
 */
export function verdictOf(answer: Answer, nowMs: number): Verdict {
  const { status } = answer;
  if (status >= 200 && status < 300) {
    return { kind: saysDuplicate(answer.body) ? 'duplicate' : 'stored' };
  }
  const detail = `${status} ${answer.body}`.slice(0, MAX_DETAIL_CHARACTERS);
  if (status === 429 || status >= 500) {
    return {
      kind: 'retry',
      retryAfterMs: retryAfterMs(answer.headers['retry-after'], nowMs),
      detail,
    };
  }
  return { kind: 'refused', status, detail };
}

/** The connection was refused, reset or timed out: the server may or may not have the batch. */
export const lostConnection = (detail: string): Verdict => ({
  kind: 'retry',
  retryAfterMs: 0,
  detail: detail.slice(0, MAX_DETAIL_CHARACTERS),
});

function saysDuplicate(body: string): boolean {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (error) {
    // An empty or foreign 2xx body is an acknowledgement without further news.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
  return (
    typeof parsed === 'object' &&
    parsed !== null &&
    'duplicate' in parsed &&
    parsed.duplicate === true
  );
}

/** Retry-After in seconds ("2") or as an HTTP date; 0 where there is none or it cannot be read. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  const waitMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isFinite(waitMs) ? Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS) : 0;
}

export interface BackoffLimits {
  readonly baseMs: number;
  readonly maxMs: number;
  /** After so many attempts a batch stays unresolved. */
  readonly maxAttempts: number;
}

export const BACKOFF: BackoffLimits = { baseMs: 200, maxMs: 10_000, maxAttempts: 60 };

/**
 * Exponential back-off with full jitter: uniform in [0, min(maxMs, baseMs * 2^(attempts - 1))), on top
 * of what the server asked for, so that vehicles told the same Retry-After do not return together.
 *
 * Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. With the defaults:
 * after the first attempt below 200 ms, after the fourth below 1,600 ms, from the seventh below 10 s.
 */
export function backoffMs(
  attempts: number,
  afterMs: number,
  jitter: number,
  limits: BackoffLimits = BACKOFF,
): number {
  const ceilingMs = Math.min(limits.maxMs, limits.baseMs * 2 ** Math.min(attempts - 1, 30));
  return afterMs + jitter * ceilingMs;
}
