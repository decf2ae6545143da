/** Where a process takes requests: a unix socket, or a port of 127.0.0.1. */
export type ListenAddress = { readonly socketPath: string } | { readonly port: number };

/** Moments of a process's start by its own clock: epoch ms with a fraction. */
export interface StartTimings {
  /** The process began. */
  readonly originMs: number;
  /** The runtime had booted and turned to the program. */
  readonly bootedMs: number;
  /** The program's modules were loaded. */
  readonly loadedMs: number;
  readonly listeningMs: number;
}

/** What the process of a stage says to its parent, once, when it takes requests. */
export interface ListeningMessage {
  readonly type: 'listening';
  readonly address: ListenAddress;
  readonly timings?: StartTimings;
}

/**
 * The message a child has sent; undefined: another one, or none that can be used. Timings that are no
 * four numbers are left out: an address is of use without them.
 */
export function readListeningMessage(message: unknown): ListeningMessage | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, address, timings } = message as Record<string, unknown>;
  const where = type === 'listening' ? readAddress(address) : undefined;
  if (where === undefined) return undefined;
  const said = readTimings(timings);
  return { type: 'listening', address: where, ...(said === undefined ? {} : { timings: said }) };
}

function readAddress(address: unknown): ListenAddress | undefined {
  if (typeof address !== 'object' || address === null) return undefined;
  const { socketPath, port } = address as Record<string, unknown>;
  if (typeof socketPath === 'string') return socketPath === '' ? undefined : { socketPath };
  const usable = Number.isInteger(port) && Number(port) > 0 && Number(port) <= 65_535;
  return usable ? { port: Number(port) } : undefined;
}

function readTimings(timings: unknown): StartTimings | undefined {
  if (typeof timings !== 'object' || timings === null) return undefined;
  const { originMs, bootedMs, loadedMs, listeningMs } = timings as Record<string, unknown>;
  return isMoment(originMs) && isMoment(bootedMs) && isMoment(loadedMs) && isMoment(listeningMs)
    ? { originMs, bootedMs, loadedMs, listeningMs }
    : undefined;
}

const isMoment = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);
