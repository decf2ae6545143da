import { expect, test } from 'vitest';
import {
  BACKOFF,
  backoffMs,
  lostConnection,
  MAX_RETRY_AFTER_MS,
  retryAfterMs,
  verdictOf,
} from './upload-verdict.ts';

const answer = (
  status: number,
  body = '',
  headers: Record<string, string> = {},
): Parameters<typeof verdictOf>[0] => ({ status, headers, body });

const NOW_MS = Date.UTC(2026, 0, 5);

test.each([
  [201, '{"duplicate":false}', 'stored'],
  [200, '{"duplicate":true}', 'duplicate'],
  [202, '', 'stored'],
  [200, 'thanks', 'stored'],
  [200, 'null', 'stored'],
  [302, '', 'refused'],
  [400, '', 'refused'],
  [401, '', 'refused'],
  [409, '', 'refused'],
  [413, '', 'refused'],
  [422, '', 'refused'],
  [429, '', 'retry'],
  [500, '', 'retry'],
  [503, '', 'retry'],
  [504, '', 'retry'],
])('verdictOf %i %s: %s', (status, body, kind) => {
  expect(verdictOf(answer(status, body), NOW_MS).kind).toBe(kind);
});

test('verdictOf a refusal with a long body: cut, with the status in front', () => {
  const verdict = verdictOf(answer(400, 'x'.repeat(1_000)), NOW_MS);
  expect(verdict).toMatchObject({ status: 400, detail: `400 ${'x'.repeat(296)}` });
});

test('verdictOf 503 with Retry-After: it is kept', () => {
  expect(verdictOf(answer(503, '', { 'retry-after': '2' }), NOW_MS)).toMatchObject({
    retryAfterMs: 2_000,
  });
});

test.each([
  ['seconds', '3', 3_000],
  ['a fraction', '0.5', 500],
  ['an HTTP date ahead', new Date(NOW_MS + 7_000).toUTCString(), 7_000],
  ['a date in the past', new Date(NOW_MS - 7_000).toUTCString(), 0],
  ['nonsense', 'soon', 0],
  ['more than the limit', '86400', MAX_RETRY_AFTER_MS],
])('retryAfterMs of %s: %s', (_, header, ms) => {
  expect(retryAfterMs(header, NOW_MS)).toBe(ms);
});

test('retryAfterMs without the header: 0', () => {
  expect(retryAfterMs(undefined, NOW_MS)).toBe(0);
});

test('backoffMs: full jitter below a doubling ceiling, on top of Retry-After', () => {
  expect(backoffMs(1, 0, 0)).toBe(0);
  expect(backoffMs(1, 0, 0.5)).toBe(100);
  expect(backoffMs(4, 0, 0.5)).toBe(800);
  expect(backoffMs(7, 0, 0.5)).toBe(5_000);
  expect(backoffMs(BACKOFF.maxAttempts, 0, 0.5)).toBe(5_000);
  expect(backoffMs(1, 3_000, 0.5)).toBe(3_100);
});

test('lostConnection: to be tried again at once, jitter apart', () => {
  expect(lostConnection('ECONNRESET')).toEqual({
    kind: 'retry',
    retryAfterMs: 0,
    detail: 'ECONNRESET',
  });
});
