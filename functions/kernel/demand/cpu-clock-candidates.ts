import type { WASI } from 'node:wasi';
import type { ClockCandidate } from './cpu-clock.ts';
import { instantiateWasm } from './instantiate-wasm.ts';

const microsToMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

/**
 * `process.threadCpuUsage()` alone moves once a scheduler tick on Linux (1 to 10 ms): the kernel
 * answers it from what was accounted before the slice in progress. Asking for the process's usage
 * first makes the kernel account that slice, and the thread's usage is then exact to 1 µs.
 */
const PAIR: ClockCandidate = {
  kind: 'pair',
  open: async () => {
    if (typeof process.threadCpuUsage !== 'function') return undefined;
    return () => {
      process.cpuUsage();
      return microsToMs(process.threadCpuUsage());
    };
  },
};

type ClockTimeGet = (clock: number, precision: bigint, result: number) => number;

/** `clock_time_get` of WASI preview 1, whose clock 3 is the thread's: CLOCK_THREAD_CPUTIME_ID on Linux. */
const WASI_CLOCK: ClockCandidate = {
  kind: 'wasi',
  open: async () => {
    const wasi = await openWasi();
    const { memory } = instantiateWasm(MEMORY_MODULE) as { memory: { buffer: ArrayBuffer } };
    wasi.initialize({ exports: { memory } });
    const result = new DataView(memory.buffer);
    const clockTimeGet: ClockTimeGet = wasi.wasiImport['clock_time_get'];
    const THREAD_CPU = 3;
    if (clockTimeGet(THREAD_CPU, 0n, 0) !== 0) return undefined;
    return () => {
      clockTimeGet(THREAD_CPU, 0n, 0);
      return Number(result.getBigUint64(0, true)) / 1e6;
    };
  },
};

/** All threads of the process: right only while nothing else runs in it, which its test finds out. */
const PROCESS: ClockCandidate = {
  kind: 'process',
  open: async () => () => microsToMs(process.cpuUsage()),
};

/** In the order of preference. A worker is never alone in its process. */
export const cpuClockCandidates = (thread: 'main' | 'worker'): readonly ClockCandidate[] =>
  thread === 'main' ? [PAIR, WASI_CLOCK, PROCESS] : [PAIR, WASI_CLOCK];

/** A module that exports one page of memory and nothing else. */
const MEMORY_MODULE = new Uint8Array(
  [
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0], // "\0asm", version 1
    [5, 3, 1, 0, 1], // one memory of at least one page
    [7, 10, 1, 6, ...Buffer.from('memory'), 2, 0], // exported as "memory"
  ].flat(),
);

/** The module warns that it is experimental; the one use of it here is tested at each start. */
async function openWasi(): Promise<WASI> {
  // oxlint-disable-next-line typescript/unbound-method -- kept to be put back as it was
  const original = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (String(warning).startsWith('WASI is an experimental')) return;
    Reflect.apply(original, process, [warning, ...rest]);
  };
  try {
    const { WASI } = await import('node:wasi');
    return new WASI({ version: 'preview1' });
  } finally {
    process.emitWarning = original;
  }
}
