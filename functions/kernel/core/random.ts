/** A stream of chance. Every use names its own stream, so that adding one never shifts another. */
export interface Random {
  /** Uniform in [0, 1), 32 bits of resolution. */
  next(): number;
  /** Uniform integer in [0, bound). */
  below(bound: number): number;
}

/** FNV-1a over the UTF-16 units, 32 bits: turns (seed, name) into a start state. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/**
 * An independent stream for each (seed, name).
 *
 * Source: Mulberry32 (Tommy Ettinger, public domain). The same pair always gives the same numbers.
 */
export function randomStream(seed: number, name: string): Random {
  let state = hash32(`${seed}/${name}`);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { next, below: (bound) => Math.floor(next() * bound) };
}
