/**
 * When a load generator meant to send something, whatever it then came to: the CloudEvents extension
 * `tachointended`, RFC 3339 with µs. From it a batch's latency counts, to the end of the pipeline.
 */
export const INTENDED = 'tachointended';

/** Epoch µs → the extension's value: 1,767,600,000,123,456 → `2026-01-05T08:00:00.123456Z`. */
export function formatIntended(epochUs: number): string {
  const us = Math.round(epochUs);
  const seconds = new Date(Math.floor(us / 1_000_000) * 1_000).toISOString().slice(0, 19);
  return `${seconds}.${String(us % 1_000_000).padStart(6, '0')}Z`;
}

const VALUE = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?Z$/;

/** Epoch ms with a fraction; undefined for what is no such value. */
export function parseIntended(value: string | readonly string[] | undefined): number | undefined {
  const [, seconds, fraction = ''] = typeof value === 'string' ? (VALUE.exec(value) ?? []) : [];
  if (seconds === undefined) return undefined;
  const ms = Date.parse(`${seconds}Z`);
  return Number.isNaN(ms) ? undefined : ms + Number(fraction.padEnd(6, '0')) / 1_000;
}
