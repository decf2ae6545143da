import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Random } from '#kernel/core/random.ts';
import { randomStream } from '#kernel/core/random.ts';
import type { DeliveryOutcome, DeliveryPolicy } from './policy.ts';
import { parseRetryAfter, retryDelayMs, settle } from './policy.ts';

const fixed = (value: number): Random => ({ next: () => value, below: () => 0 });
/** The longest jitter: the factor is just below 1. */
const longest = fixed(1 - 2 ** -32);
const policy: DeliveryPolicy = {
  retry: 10,
  backoffPolicy: 'exponential',
  backoffDelayMs: 200,
  maxBackoffMs: 600_000,
};
const answered = (status: number, retryAfterMs?: number): DeliveryOutcome => ({
  kind: 'answered',
  status,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

test.each([
  ['delivered is done', { kind: 'delivered' } as const, 1, 'ack'],
  ['500 may be a passing fault', answered(500), 1, 'retry'],
  ['503 asks for it', answered(503), 10, 'retry'],
  ['429 asks for it', answered(429), 1, 'retry'],
  ['408 is a time-out of the server', answered(408), 1, 'retry'],
  ['599 is still a server fault', answered(599), 1, 'retry'],
  ['the retries are used up', answered(503), 11, 'deadLetter'],
  ['400 never heals', answered(400), 1, 'deadLetter'],
  ['404 is no way to ask for a retry', answered(404), 1, 'deadLetter'],
  ['409 is no way to ask for a retry', answered(409), 1, 'deadLetter'],
  ['302: redirects are not followed', answered(302), 1, 'deadLetter'],
  ['no answer', { kind: 'unreachable' } as const, 10, 'retry'],
  ['no answer after the last retry', { kind: 'unreachable' } as const, 11, 'deadLetter'],
  ['a reply that is no event', { kind: 'unusableReply' } as const, 1, 'retry'],
  ['a reply that is no event, to the end', { kind: 'unusableReply' } as const, 11, 'deadLetter'],
  ['stopping uses up no retry', { kind: 'aborted' } as const, 99, 'retry'],
])('settle, %s', (_, outcome, attempt, kind) => {
  expect(settle(outcome, attempt, policy, longest).kind).toBe(kind);
});

test('settle with retry 0 sends the first failure to the dead letter sink', () => {
  expect(settle(answered(503), 1, { ...policy, retry: 0 }, longest)).toEqual({
    kind: 'deadLetter',
  });
});

test.each([
  ['exponential', 1, 200],
  ['exponential', 2, 400],
  ['exponential', 10, 102_400],
  ['exponential', 13, 600_000],
  ['linear', 1, 200],
  ['linear', 2, 400],
  ['linear', 3, 600],
] as const)('retryDelayMs %s after attempt %i is at most %i ms', (backoffPolicy, attempt, ms) => {
  expect(retryDelayMs(attempt, { ...policy, backoffPolicy }, longest)).toBe(ms);
});

test('retryDelayMs waits at least as long as Retry-After says, and never above the maximum', () => {
  expect(retryDelayMs(1, policy, longest, 5_000)).toBe(5_000);
  expect(retryDelayMs(1, policy, longest, 86_400_000)).toBe(600_000);
});

test('retryDelayMs stays within half the back-off and the back-off, for every attempt', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer(), (attempt, seed) => {
      const delay = retryDelayMs(attempt, policy, randomStream(seed, 'jitter'));
      const backoff = 200 * 2 ** (attempt - 1);
      expect(delay).toBeGreaterThanOrEqual(Math.min(600_000, Math.round(backoff / 2)));
      expect(delay).toBeLessThanOrEqual(Math.min(600_000, backoff));
    }),
  );
});

test.each([
  [undefined, undefined],
  ['2', 2_000],
  [' 0 ', 0],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['Thu, 01 Jan 2026 00:00:03 GMT', 3_000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
])('parseRetryAfter of %s is %s', (value, ms) => {
  expect(parseRetryAfter(value, 1_767_225_600_000)).toBe(ms);
});
