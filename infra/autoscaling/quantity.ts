const CPU_UNITS = { '': 1_000, m: 1 } as const;
const BYTE_UNITS = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
} as const;

/** Kubernetes' quantity of CPU in thousandths: `250m` → 250, `0.5` → 500; NaN where it is none. */
export const readMillicpus = (value: unknown): number => read(value, CPU_UNITS);

/** Kubernetes' quantity of memory in bytes: `1Ki` → 1024, `1k` → 1000; NaN where it is none. */
export const readBytes = (value: unknown): number => read(value, BYTE_UNITS);

function read(value: unknown, units: Readonly<Record<string, number>>): number {
  const text = typeof value === 'number' ? String(value) : value;
  const match = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(typeof text === 'string' ? text : '');
  const unit = match?.[2] ?? '';
  return (
    Number(match?.[1]) * (Object.hasOwn(units, unit) ? (units[unit] ?? Number.NaN) : Number.NaN)
  );
}
