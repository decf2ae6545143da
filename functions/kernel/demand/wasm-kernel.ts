import { sha256Hex } from '../system/sha256.ts';
import { instantiateWasm } from './instantiate-wasm.ts';

/** One reference CPU-ms of work: 1 ms at 1.25 ns a step. A constant of the project, like a work unit. */
export const REFERENCE_STEPS_PER_MS = 800_000;

/** A fixed unit of CPU work: no memory, no allocation, every step needs the one before it. */
export interface Kernel {
  /** `steps` from 0 to 2^31 - 1. */
  readonly run: (steps: number) => void;
  /** The generator's state, carried from call to call so that no step can be left out. */
  readonly state: () => bigint;
  /** Of the kernel's bytes: results made with another kernel cannot be compared. */
  readonly sha256: string;
}

/** Knuth's MMIX generator: state = state * MULTIPLIER + INCREMENT, 64 bits. */
export const MULTIPLIER = 6_364_136_223_846_793_005n;
export const INCREMENT = 1_442_695_040_888_963_407n;
export const SEED = 1n;

/** Signed LEB128, as WebAssembly writes its constants. */
function leb128(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asIntN(64, value);
  for (;;) {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    const last = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
    bytes.push(last ? low : low | 0x80);
    if (last) return bytes;
  }
}

const section = (id: number, content: readonly number[]): number[] => [
  id,
  content.length,
  ...content,
];

const name = (text: string): number[] => [text.length, ...Buffer.from(text, 'ascii')];

const I32 = 0x7f;
const I64 = 0x7e;
const LOCAL_GET = 0x20;
const LOCAL_SET = 0x21;
const GLOBAL_GET = 0x23;
const GLOBAL_SET = 0x24;
const I32_CONST = 0x41;
const I64_CONST = 0x42;
const END = 0x0b;

/**
 * The module in WebAssembly's binary format (core specification, chapter 5). As text:
 *
 *     (global $state (export "state") (mut i64) (i64.const 1))
 *     (func (export "run") (param $steps i32) (local $state i64)
 *       local.get state of the global
 *       (block (loop
 *         (br_if 1 (i32.eqz $steps))
 *         $state = $state * MULTIPLIER + INCREMENT
 *         $steps = $steps - 1
 *         (br 0)))
 *       the global = $state)
 *
 * WebAssembly and not JavaScript: on Node 24 a JavaScript loop runs at one of two speeds, a factor of
 * 6 apart, by how the process happened to warm up.
 */
function assemble(): Uint8Array {
  const body = [
    [0x01, 0x01, I64], // one local: $state
    [GLOBAL_GET, 0, LOCAL_SET, 1],
    [0x02, 0x40, 0x03, 0x40], // block, loop
    [LOCAL_GET, 0, 0x45, 0x0d, 1], // br_if 1 when steps is 0
    [LOCAL_GET, 1, I64_CONST, ...leb128(MULTIPLIER), 0x7e], // i64.mul
    [I64_CONST, ...leb128(INCREMENT), 0x7c, LOCAL_SET, 1], // i64.add
    [LOCAL_GET, 0, I32_CONST, 1, 0x6b, LOCAL_SET, 0], // i32.sub
    [0x0c, 0, END, END], // br 0
    [LOCAL_GET, 1, GLOBAL_SET, 0, END],
  ].flat();
  return new Uint8Array(
    [
      [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0], // "\0asm", version 1
      section(1, [1, 0x60, 1, I32, 0]), // type 0: (i32) -> ()
      section(3, [1, 0]), // function 0 has type 0
      section(6, [1, I64, 1, I64_CONST, ...leb128(SEED), END]), // a mutable i64
      section(7, [2, ...name('run'), 0, 0, ...name('state'), 3, 0]),
      section(10, [1, body.length, ...body]),
    ].flat(),
  );
}

/** A kernel of its own for each caller (the state is not shared between threads). */
export function createKernel(): Kernel {
  const bytes = assemble();
  const { run, state } = instantiateWasm(bytes) as {
    run: (steps: number) => void;
    state: { readonly value: bigint };
  };
  return { run, state: () => BigInt.asUintN(64, state.value), sha256: sha256Hex(bytes) };
}
