import type { Estimate } from '#loadtest/variability/variability-summary.ts';
import { html, type Html } from '../html.ts';
import { significant } from '../number-text.ts';

/** Three significant digits with a true minus, whole numbers as they are; – where there is no figure. */
export function figure(value: number | null, unit = ''): string {
  if (value === null) return '–';
  const text = Number.isInteger(value) ? String(value) : significant(value);
  return `${text.replace('-', '−')}${unit}`;
}

/** The estimate, and its bounds below it; without bounds the estimate alone. */
export function bounded({ value, low, high }: Estimate): Html {
  if (low === null || high === null) return html`${figure(value)}`;
  return html`${figure(value)}<br /><span class="soft">${figure(low)} to ${figure(high)}</span>`;
}

/** A probability: `0.017`, and below a thousandth only that it is. */
export function chance(p: number | null): string {
  if (p === null) return '–';
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

export const demandText = (ms: number): string => (ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`);
