import type {
  CalibrationVerdict,
  Disturbance,
  VerifyRow,
} from '#kernel/calibration/calibration.ts';

/** A clock that moves in steps above this cannot end a burst of 1 ms to a twentieth. */
export const MAX_CLOCK_STEP_US = 50;
export const MAX_SPREAD = 1.15;
export const MAX_CV_PCT = 1.5;
/** By size of the burst, ms. */
export const MAX_BIAS_PCT: Readonly<Record<number, number>> = { 1: 0.5, 5: 0.1 };
/** Above these the machine was not this process's alone, which `rate=local` means by "here, alone". */
export const MAX_READY_SHARE = 0.1;
export const MAX_STEAL_SHARE = 0.05;

export interface Evidence {
  /** Why no CPU clock can be used, or null. */
  readonly clockFault: string | null;
  readonly clockStepUs: number | null;
  /** null: the clock stood still over whole pieces. */
  readonly spread: number | null;
  readonly verify: readonly VerifyRow[];
  readonly disturbance: Disturbance;
}

export interface Judgement {
  readonly verdict: CalibrationVerdict;
  readonly reasons: readonly string[];
}

/** A coarse clock outweighs noise: what it measured says nothing about noise. */
export function judge(evidence: Evidence): Judgement {
  const coarse = clockReasons(evidence);
  if (coarse.length > 0) return { verdict: 'coarse-clock', reasons: coarse };
  const reasons = [
    ...spreadReasons(evidence.spread),
    ...evidence.verify.flatMap(verifyReasons),
    ...disturbanceReasons(evidence.disturbance),
  ];
  return { verdict: reasons.length === 0 ? 'ok' : 'noisy', reasons };
}

function clockReasons({ clockFault, clockStepUs, spread }: Evidence): string[] {
  if (clockFault !== null) return [`no CPU clock can be used here: ${clockFault}`];
  if (clockStepUs !== null && clockStepUs > MAX_CLOCK_STEP_US) {
    return [
      `the CPU clock moves in steps of ${clockStepUs} µs; at most ${MAX_CLOCK_STEP_US} µs do`,
    ];
  }
  return spread === null ? ['the CPU clock stood still over pieces of 1 ms'] : [];
}

const spreadReasons = (spread: number | null): string[] =>
  spread === null || spread <= MAX_SPREAD
    ? []
    : [`the rate varied: p90 is ${spread.toFixed(2)} times p10; at most ${MAX_SPREAD} is steady`];

function verifyReasons({ nominalMs, biasPct, cvPct }: VerifyRow): string[] {
  const reasons: string[] = [];
  const maxBiasPct = MAX_BIAS_PCT[nominalMs] ?? Infinity;
  // Not <=, so that a bias that is no number is a reason too.
  if (!(Math.abs(biasPct) <= maxBiasPct)) {
    reasons.push(
      `bursts of ${nominalMs} ms are off by ${biasPct.toFixed(3)} %; at most ${maxBiasPct} % are allowed`,
    );
  }
  if (!(cvPct <= MAX_CV_PCT)) {
    reasons.push(
      `bursts of ${nominalMs} ms vary by ${cvPct.toFixed(2)} % (CV); at most ${MAX_CV_PCT} % are allowed`,
    );
  }
  return reasons;
}

function disturbanceReasons({ readyShare, throttledPeriods, stealShare }: Disturbance): string[] {
  const reasons: string[] = [];
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  if (readyShare !== null && readyShare > MAX_READY_SHARE) {
    reasons.push(
      `it waited for a CPU ${percent(readyShare)} of the time; ` +
        `above ${percent(MAX_READY_SHARE)} others use the CPU too`,
    );
  }
  if (throttledPeriods !== null && throttledPeriods > 0) {
    reasons.push(`the CPU quota of the own cgroup ran out in ${throttledPeriods} periods`);
  }
  if (stealShare !== null && stealShare > MAX_STEAL_SHARE) {
    reasons.push(
      `the host took ${percent(stealShare)} of the CPU time (steal); ` +
        `at most ${percent(MAX_STEAL_SHARE)} is quiet`,
    );
  }
  return reasons;
}
