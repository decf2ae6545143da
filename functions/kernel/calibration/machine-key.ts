import { arch, cpus } from 'node:os';
import process from 'node:process';
import type { CalibrationKey } from './calibration.ts';

/** What a calibration made here is valid for. */
export const machineKey = (kernelSha256: string): CalibrationKey => ({
  cpuModel: cpus()[0]?.model.trim() ?? 'unknown',
  architecture: arch(),
  node: process.version,
  kernelSha256,
});
