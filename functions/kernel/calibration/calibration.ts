/**
 * How fast this machine runs the kernel of CPU demands, and how far bursts can be trusted here. Made by
 * `tachograph calibrate`; read by demands with `rate=local`, and by nothing else.
 */
export interface Calibration {
  readonly schema: typeof CALIBRATION_SCHEMA;
  /** ISO 8601, UTC. */
  readonly measuredAt: string;
  readonly key: CalibrationKey;
  readonly verdict: CalibrationVerdict;
  /** Why the verdict is not `ok`, in words, with number and limit. */
  readonly reasons: readonly string[];
  /**
   * Kernel steps per CPU-ms over the reference rate: 1 is the reference, 0.8 a CPU a fifth slower.
   * null with a coarse clock.
   */
  readonly rate: number | null;
  /** p90 over p10 of the rate, piece against piece: 1 is perfectly steady. null with a coarse clock. */
  readonly spread: number | null;
  /** `none` and null where no CPU clock can be used. */
  readonly clock: { readonly kind: string; readonly stepUs: number | null };
  readonly verify: readonly VerifyRow[];
  readonly disturbance: Disturbance;
  /** CPU time burned for it; null without /proc. */
  readonly burnedCpuMs: number | null;
}

/** One that a demand can use: the only kind that is stored. */
export type UsableCalibration = Calibration & { readonly rate: number; readonly spread: number };

/** `coarse-clock`: no clock here can end a burst in time; `noisy`: something disturbed the measuring. */
export type CalibrationVerdict = 'ok' | 'noisy' | 'coarse-clock';

/** What a calibration is valid for. Any difference makes it another machine's. */
export interface CalibrationKey {
  readonly cpuModel: string;
  readonly architecture: string;
  readonly node: string;
  readonly kernelSha256: string;
}

/** How bursts of one size came out, in CPU time. */
export interface VerifyRow {
  readonly nominalMs: number;
  /** Mean over nominal - 1, by the burner's clock. */
  readonly biasPct: number;
  /** Standard deviation over mean. */
  readonly cvPct: number;
  readonly n: number;
  /** The same bias by the kernel's account of the thread, read from outside; null without /proc. */
  readonly outsideBiasPct: number | null;
}

/** What else went on while measuring; null where the system does not say. */
export interface Disturbance {
  /** Waiting on the run queue over waiting and running. */
  readonly readyShare: number | null;
  /** Periods in which the own cgroup's CPU quota ran out. */
  readonly throttledPeriods: number | null;
  /** CPU time that the host gave to others over all CPU time of the machine. */
  readonly stealShare: number | null;
}

export const CALIBRATION_SCHEMA = 'tachograph.calibration/1';

export interface KeyDifference {
  readonly field: keyof CalibrationKey;
  readonly here: string;
  readonly inFile: string;
}

const KEY_FIELDS = ['cpuModel', 'architecture', 'node', 'kernelSha256'] as const;

/** Empty when a calibration made under `inFile` is valid under `here`. */
export const keyDifferences = (
  here: CalibrationKey,
  inFile: CalibrationKey,
): readonly KeyDifference[] =>
  KEY_FIELDS.filter((field) => here[field] !== inFile[field]).map((field) => ({
    field,
    here: here[field],
    inFile: inFile[field],
  }));

/** `node: v24.1.0 in the file, v24.2.0 here; …` Hashes by their first eight digits. */
export const differencesText = (differences: readonly KeyDifference[]): string =>
  differences
    .map(({ field, here, inFile }) => {
      const short = (text: string): string => (field === 'kernelSha256' ? text.slice(0, 8) : text);
      return `${field}: "${short(inFile)}" in the file, "${short(here)}" here`;
    })
    .join('; ');

/** What a file holds, or undefined where it is not a calibration. A rate must be finite and above 0. */
export function calibrationFromDocument(document: unknown): UsableCalibration | undefined {
  if (!isRecord(document) || document['schema'] !== CALIBRATION_SCHEMA) return undefined;
  const { key, rate, spread, verdict, reasons, clock, verify } = document;
  if (!isRecord(key) || KEY_FIELDS.some((field) => typeof key[field] !== 'string')) {
    return undefined;
  }
  if (!isPositive(rate) || !isPositive(spread)) return undefined;
  if (verdict !== 'ok' && verdict !== 'noisy') return undefined;
  if (!Array.isArray(reasons) || !Array.isArray(verify) || !isRecord(clock)) return undefined;
  return document as unknown as UsableCalibration;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPositive = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
