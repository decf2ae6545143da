import { CALIBRATION_SCHEMA, type CalibrationKey, type UsableCalibration } from '../calibration.ts';

export const EXAMPLE_KEY: CalibrationKey = {
  cpuModel: 'Example CPU',
  architecture: 'x64',
  node: 'v24.1.0',
  kernelSha256: 'ab'.repeat(32),
};

/** A quiet machine a tenth faster than the reference. */
export const EXAMPLE_CALIBRATION: UsableCalibration = {
  schema: CALIBRATION_SCHEMA,
  measuredAt: '2026-01-01T00:00:00.000Z',
  key: EXAMPLE_KEY,
  verdict: 'ok',
  reasons: [],
  rate: 1.1,
  spread: 1.02,
  clock: { kind: 'pair', stepUs: 1 },
  verify: [{ nominalMs: 1, biasPct: 0.1, cvPct: 0.5, n: 100, outsideBiasPct: 0.2 }],
  disturbance: { readyShare: 0.01, throttledPeriods: 0, stealShare: 0 },
  burnedCpuMs: 450,
};
