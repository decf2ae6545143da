import type { QosClass } from './study.ts';

/** One burst: a line of `bursts.ndjson`. Times in ms. */
export interface BurstRow {
  readonly node: string;
  readonly qos: QosClass;
  readonly execution: number;
  readonly iteration: number;
  /** Its number within the iteration. */
  readonly burst: number;
  /** Its place in the order of the execution, from 0. */
  readonly order: number;
  readonly demandMs: number;
  readonly steps: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly readyMs: number | null;
  readonly restMs: number | null;
  readonly involuntarySwitches: number;
  readonly rate: number | null;
}

/** What a probe knows of itself: printed before its bursts. */
export interface ProbeFacts {
  readonly cpuModel: string;
  readonly architecture: string;
  readonly kernel: string;
  readonly nodeVersion: string;
  readonly kernelSha256: string;
  readonly clock: string;
  /** CPUs the process may run on, such as `0-1`; null where the system does not say. */
  readonly cpusAllowed: string | null;
  /** Of the calibration: steps per CPU-ms over the reference rate, and p90 over p10 of the pieces. */
  readonly rate: number | null;
  readonly spread: number | null;
  /** Of the whole execution; null where the system does not say. */
  readonly throttledPeriods: number | null;
  readonly stealShare: number | null;
  /** `some` of cpu.pressure over the execution, ms; null where there is none. */
  readonly cpuPressureMs: number | null;
}

/** How busy a node was before an execution, without the probe. */
export interface Occupancy {
  /** Other processes of the node: what pods are on a cluster. */
  readonly pods: number;
  /** CPU they consumed; null where the system does not say. */
  readonly millicores: number | null;
  /** CPU that the whole machine consumed: shared by all local nodes. */
  readonly machineMillicores: number | null;
  readonly windowMs: number;
}

/** One execution: a line of `executions.ndjson`, written when all its bursts are done. */
export interface ExecutionRow {
  readonly node: string;
  readonly qos: QosClass;
  readonly execution: number;
  /** Its place in the order of the study, from 0. */
  readonly order: number;
  /** Since the study began. */
  readonly startedMs: number;
  readonly durationMs: number;
  readonly occupancy: Occupancy;
  readonly probe: ProbeFacts;
}
