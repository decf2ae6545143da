/**
 * When a request was sent on its last leg: `x-request-start: t=1764571234.123456`, in seconds since the
 * epoch. The name and the form are those that nginx, Heroku's router and monitoring agents agree on; the
 * receiver takes from it how long the request waited in sockets and in the process's own queue.
 */
export const REQUEST_START = 'x-request-start';

/** Epoch ms with a fraction → the header's value. */
export const formatRequestStart = (epochMs: number): string => `t=${(epochMs / 1_000).toFixed(6)}`;

const VALUE = /^t=(\d{1,12})\.(\d{6})$/;

/** Epoch ms with a fraction; undefined for what is no such value. */
export function parseRequestStart(
  value: string | readonly string[] | undefined,
): number | undefined {
  const [, seconds, micros] = typeof value === 'string' ? (VALUE.exec(value) ?? []) : [];
  if (seconds === undefined || micros === undefined) return undefined;
  return Number(seconds) * 1_000 + Number(micros) / 1_000;
}
