/** How many replicas were ready from a moment on, in s since the first request. */
export type ReplicaCurve = readonly (readonly [atS: number, ready: number])[];

export interface CurveFigures {
  /** Most replicas ready at once. */
  readonly peak: number;
  /** First replica ready. */
  readonly firstReadyS: number;
  /** As many ready as at the peak. */
  readonly peakS: number;
  /** Ready replicas, integrated. */
  readonly replicaSeconds: number;
  /** The last one gone. */
  readonly zeroS: number;
}

/** Two replicas from 1 s, four from 2 s, none from 5 s: peak 4 at 2 s, 2·1 + 4·3 = 14 replica-seconds. */
export function curveFigures(curve: ReplicaCurve): CurveFigures {
  const peak = Math.max(0, ...curve.map(([, ready]) => ready));
  const firstReadyS = curve.find(([, ready]) => ready > 0)?.[0] ?? Number.NaN;
  const peakS = curve.find(([, ready]) => ready === peak)?.[0] ?? Number.NaN;
  const last = curve.findLastIndex(([, ready]) => ready > 0);
  const zeroS = curve[last + 1]?.[0] ?? curve.at(-1)?.[0] ?? Number.NaN;
  let replicaSeconds = 0;
  for (const [index, [atS, ready]] of curve.entries()) {
    replicaSeconds += ready * ((curve[index + 1]?.[0] ?? atS) - atS);
  }
  return { peak, firstReadyS, peakS, replicaSeconds, zeroS };
}
