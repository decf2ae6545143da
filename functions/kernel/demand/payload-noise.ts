import { randomStream } from '../core/random.ts';
import { drawAmount } from './draw-amount.ts';
import type { Demand, Place } from './demand.ts';
import { MAX_PAYLOAD_BYTES } from './demand-limits.ts';

type PayloadDemand = Extract<Demand, { kind: 'payload' }>;

/** Noise is made once, ahead of time, so that no event pays for its generation. */
export interface PayloadNoise {
  /** Size of the payload of one demand for a fact. */
  readonly sizeOf: (demand: PayloadDemand, key: string) => number;
  /** All payload of a place for a fact: a function of the key alone, in every process. */
  readonly bytesFor: (place: Place, key: string) => Uint8Array;
}

/** Payloads of different facts begin at different points of the noise. */
const SHIFTS = 4096;

export function createPayloadNoise(demands: readonly Demand[]): PayloadNoise {
  const payloads = demands.filter((demand) => demand.kind === 'payload');
  // Size and content decide a fact's hash: a stage that repeats a fact must make the same one.
  const sizeOf = (demand: PayloadDemand, key: string): number => {
    const stream = randomStream(payloads.indexOf(demand), `payload size/${key}`);
    return Math.min(MAX_PAYLOAD_BYTES, Math.round(drawAmount(demand.bytes, stream)));
  };
  const noise = makeNoise(payloads.length === 0 ? 0 : MAX_PAYLOAD_BYTES + SHIFTS);
  return {
    sizeOf,
    bytesFor: (place, key) => {
      const asked = payloads
        .filter((demand) => demand.place === place)
        .reduce((sum, demand) => sum + sizeOf(demand, key), 0);
      const size = Math.min(MAX_PAYLOAD_BYTES, asked);
      const shift = size === 0 ? 0 : randomStream(0, `payload shift/${key}`).below(SHIFTS);
      return noise.subarray(shift, shift + size);
    },
  };
}

function makeNoise(size: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(size / Uint32Array.BYTES_PER_ELEMENT));
  const stream = randomStream(0, 'payload noise');
  for (let index = 0; index < words.length; index++) words[index] = stream.below(2 ** 32);
  return new Uint8Array(words.buffer, 0, size);
}
