import type { Accounted, Burst, BurnStand, Series } from '../burn-stand.ts';

export interface FakeMachine {
  readonly clockFault?: string;
  /** Steps a CPU-ms of each piece, by its number. */
  readonly stepsPerMs?: (piece: number) => number;
  /** What a burst consumes, by its series and number. */
  readonly burstMs?: (series: Series, burst: number) => number;
  /** Run-queue wait for each ms of CPU time. */
  readonly readyPerMs?: number;
  /** CPU time of a request by itself, which the outside clock sees. */
  readonly requestMs?: number;
  /** No /proc: nothing is known from outside. */
  readonly withoutAccount?: boolean;
}

/** A stand that burns nothing; notes what was asked. */
export function fakeStand(machine: FakeMachine): BurnStand & { readonly asked: string[] } {
  const { clockFault = null, readyPerMs = 0, requestMs = 0.02, withoutAccount = false } = machine;
  const asked: string[] = [];
  const accounted = <T>(value: T, burnedMs: number): Accounted<T> => {
    const cpuMs = burnedMs + requestMs;
    return { value, account: withoutAccount ? null : { cpuMs, readyMs: burnedMs * readyPerMs } };
  };
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  return {
    asked,
    clock: clockFault === null ? { kind: 'pair', stepUs: 1 } : null,
    clockFault,
    rate: async () => {
      asked.push('rate');
      const pieces = Array.from({ length: 100 }, (_, piece) => ({
        steps: machine.stepsPerMs?.(piece) ?? 800_000,
        cpuMs: 1,
      }));
      return accounted(pieces, 250);
    },
    series: async (series) => {
      asked.push(`${series.n} x ${series.nominalMs} ms ${series.loop}`);
      const bursts = Array.from({ length: series.n }, (_, burst): Burst => {
        const cpuMs = machine.burstMs?.(series, burst) ?? series.nominalMs;
        return { cpuMs, wallMs: cpuMs * (1 + readyPerMs) };
      });
      return accounted(bursts, sum(bursts.map(({ cpuMs }) => cpuMs)));
    },
    nothing: async () => accounted(undefined, 0),
    close: async () => void asked.push('close'),
  };
}
