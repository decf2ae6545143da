import { request } from 'node:http';
import type { ReplicaAddress } from '#infra/local/data-path/replica-address.ts';
import type { Clock } from '#kernel/core/clock.ts';

/** How a replica that hangs is found: its process is there, but its event loop does not turn. */
export interface ProbeSettings {
  readonly probe: Probe;
  /** From the end of one probe to the next. */
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** So many in a row without an answer, and the process is ended. */
  readonly failures: number;
}

/** Whether there was an answer before the signal was aborted. */
export type Probe = (address: ReplicaAddress, signal: AbortSignal) => Promise<boolean>;

/**
 * A replica that is at work on the CPU in its event loop answers nobody meanwhile, so that a probe waits
 * long: half a minute without any answer is a hang.
 */
export const PROBE_SETTINGS: ProbeSettings = {
  probe: probeHealth,
  periodMs: 10_000,
  timeoutMs: 10_000,
  failures: 3,
};

/** Asks for /healthz. Any answer will do, one of a route that is not known too: somebody gave it. */
export function probeHealth(address: ReplicaAddress, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const where = 'port' in address ? { host: '127.0.0.1', port: address.port } : address;
  const asking = request({ ...where, path: '/healthz', agent: false, signal }, (answer) => {
    answer.resume();
    answer.once('close', () => resolve(true));
  });
  asking.once('error', () => resolve(false));
  asking.end();
  return promise;
}

/**
 * Probes until there was no answer so many times in a row, or `signal` is aborted; resolves with the
 * number of probes without an answer then, 0 for the second.
 */
export async function awaitHang(
  address: ReplicaAddress,
  settings: ProbeSettings,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  const { probe, periodMs, timeoutMs, failures } = settings;
  let failed = 0;
  while (failed < failures) {
    await pause(clock, periodMs, signal);
    if (signal.aborted) return 0;
    const over = new AbortController();
    const late = new AbortController();
    void pause(clock, timeoutMs, over.signal).then(() => late.abort());
    const answered = await probe(address, AbortSignal.any([late.signal, signal]));
    over.abort();
    if (signal.aborted) return 0;
    failed = answered ? 0 : failed + 1;
  }
  return failed;
}

async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
