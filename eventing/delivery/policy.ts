import type { Random } from '#kernel/core/random.ts';

/**
 * What happens to an event after one attempt to deliver it. Pure: the dispatcher asks, JetStream obeys.
 *
 * Status codes as Knative's NATS dispatcher reads them, with one difference: a refusal that no repetition
 * can heal goes to the dead letter sink at once, on every attempt.
 */
export type DeliveryOutcome =
  /** A 2xx without a body, or whose reply event the broker has taken. */
  | { readonly kind: 'delivered' }
  /** An answer outside 2xx. */
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs?: number }
  /** A 2xx with a body that is no CloudEvent: the subscriber is broken, the event is not done. */
  | { readonly kind: 'unusableReply' }
  /** No answer: refused, reset, timed out. */
  | { readonly kind: 'unreachable' }
  /** The dispatcher stops before the answer: not the subscriber's fault. */
  | { readonly kind: 'aborted' };

export interface DeliveryPolicy {
  /** Attempts after the first one. */
  readonly retry: number;
  readonly backoffPolicy: 'exponential' | 'linear';
  readonly backoffDelayMs: number;
  /** No wait is longer, whatever the back-off or a Retry-After says. */
  readonly maxBackoffMs: number;
}

export type Settlement =
  | { readonly kind: 'ack' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'deadLetter' };

/**
 * `attempt` counts from 1. Examples with retry 2: attempts 1 and 2 that end in 503 are retried, attempt 3
 * goes to the dead letter sink; a 400 goes there on attempt 1. An aborted attempt is repeated at once.
 */
export function settle(
  outcome: DeliveryOutcome,
  attempt: number,
  policy: DeliveryPolicy,
  random: Random,
): Settlement {
  if (outcome.kind === 'delivered') return { kind: 'ack' };
  if (outcome.kind === 'aborted') return { kind: 'retry', delayMs: 0 };
  if (outcome.kind === 'answered' && !isRetryable(outcome.status)) return { kind: 'deadLetter' };
  if (attempt > policy.retry) return { kind: 'deadLetter' };
  const retryAfterMs = outcome.kind === 'answered' ? (outcome.retryAfterMs ?? 0) : 0;
  return { kind: 'retry', delayMs: retryDelayMs(attempt, policy, random, retryAfterMs) };
}

/** 5xx, 408 and 429 may be healed by time. 404 and 409 may not: a stage never asks for a retry by them. */
const isRetryable = (status: number): boolean =>
  (status >= 500 && status <= 599) || status === 408 || status === 429;

/**
 * The wait after failed attempt n = 1, 2, …: exponential d·2^(n−1), linear d·n, times a jitter in
 * [0.5, 1) so that events which failed together do not come back together; at least Retry-After, at
 * most `maxBackoffMs`.
 *
 * Exponential with d = 200 ms: 100…200 ms after attempt 1, 200…400 after 2, 51.2…102.4 s after 10; ten
 * retries last at most 0.2·(2^10 − 1) = 204.6 s. Linear: 100…200, 200…400, 300…600 ms.
 *
 * Source: knative/eventing, generateBackoffFn, whose attempt number counts from 0; there linear is d·(n−1),
 * so that its first retry does not wait at all. Ours does.
 */
export function retryDelayMs(
  attempt: number,
  policy: DeliveryPolicy,
  random: Random,
  retryAfterMs = 0,
): number {
  const factor = policy.backoffPolicy === 'linear' ? attempt : 2 ** (attempt - 1);
  const backoffMs = policy.backoffDelayMs * factor * (0.5 + random.next() / 2);
  return Math.round(Math.min(policy.maxBackoffMs, Math.max(backoffMs, retryAfterMs)));
}

/** Retry-After in ms: seconds or an HTTP date; undefined when absent or neither. Past dates are 0. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Date.parse alone would also take "-5" and "1.5" for dates.
  if (!/^[A-Z][a-z]{2}, /.test(text)) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
