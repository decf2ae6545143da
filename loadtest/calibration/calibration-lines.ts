import type { Calibration } from '#kernel/calibration/calibration.ts';

/** A calibration for people. */
export function calibrationLines(calibration: Calibration): readonly string[] {
  const { verdict, reasons, rate, spread, clock, verify, disturbance, key } = calibration;
  const lines = [
    `verdict      ${verdict}`,
    ...reasons.map((reason) => `             ${reason}`),
    `machine      ${key.cpuModel}, ${key.architecture}, Node ${key.node}, kernel ${key.kernelSha256.slice(0, 8)}`,
    clock.stepUs === null
      ? 'clock        none'
      : `clock        ${clock.kind}, step ${clock.stepUs} µs`,
  ];
  if (rate !== null && spread !== null) {
    lines.push(`rate         ${rate.toFixed(3)} of the reference, p90/p10 ${spread.toFixed(3)}`);
  }
  for (const { nominalMs, biasPct, cvPct, n, outsideBiasPct } of verify) {
    const outside = outsideBiasPct === null ? '' : `, from outside ${signed(outsideBiasPct)} %`;
    lines.push(
      `${`${nominalMs} ms`.padEnd(13)}bias ${signed(biasPct)} %${outside}, CV ${cvPct.toFixed(3)} %, n ${n}`,
    );
  }
  const { readyShare, throttledPeriods, stealShare } = disturbance;
  lines.push(
    `disturbance  waited for a CPU ${percent(readyShare)}, ` +
      `throttled periods ${throttledPeriods ?? 'unknown'}, steal ${percent(stealShare)}`,
  );
  return lines;
}

const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;

const percent = (share: number | null): string =>
  share === null ? 'unknown' : `${(share * 100).toFixed(1)} %`;
