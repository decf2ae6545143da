/** Numbers for people. One language (English), so that a rebuilt report is the same everywhere. */
const integer = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

/** 98800 → `98,800`. */
export const countText = (value: number): string => integer.format(value);

/** Three significant digits with a unit: 0.412 → `0.412 ms`, 41.27 → `41.3 ms`, 1,234 → `1.23 s`. */
export function durationText(ms: number | null): string {
  if (ms === null) return '–';
  if (Math.abs(ms) >= 60_000) return `${(ms / 60_000).toPrecision(3)} min`;
  if (Math.abs(ms) >= 1_000) return `${significant(ms / 1_000)} s`;
  return `${significant(ms)} ms`;
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const;

/** 1,536 → `1.50 KiB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? countText(value) : significant(value)} ${BYTE_UNITS[unit] ?? ''}`;
}

/** Three significant digits without an exponent: 0.00042 → `0.00042`, 123.4 → `123`. */
export function significant(value: number): string {
  const text = value.toPrecision(3);
  return text.includes('e') ? String(Number(text)) : text;
}
