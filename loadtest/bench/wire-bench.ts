import { gzipSync, zstdCompressSync } from 'node:zlib';
import { decodeBatch, encodeBatch } from '#kernel/batch/batch-codec.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import { frameCount } from '#kernel/batch/batch.ts';
import { groupFrames } from '#kernel/batch/group-frames.ts';
import type { CanFrame } from '#kernel/canlog/can-frame.ts';
import { readCanLog } from '#kernel/canlog/read-can-log.ts';
import { must } from '#kernel/core/assert.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { BenchRow } from './bench-row.ts';

const DRIVE = 'examples/drive/drive-60s.candump.gz';

/** Bytes on the wire for a frame, in batches of 10 s. */
export const TARGET_BYTES_PER_FRAME = 5;

/** Odd, so that the median is one of them. The first repetition warms up and is left out. */
const REPETITIONS = 7;

/** The whole drive in batches of `spanS`, as a vehicle cuts them. Every frame is in exactly one. */
async function cutDrive(path: string, spanS: number): Promise<readonly Batch[]> {
  const spanUs = spanS * 1_000_000;
  const spans = new Map<number, CanFrame[]>();
  let originUs: number | undefined;
  for await (const frame of readCanLog(path)) {
    originUs ??= frame.timeUs;
    const seq = Math.floor((frame.timeUs - originUs) / spanUs);
    const frames = spans.get(seq);
    if (frames === undefined) spans.set(seq, [frame]);
    else frames.push(frame);
  }
  const startUs = must(originUs, 'time of the first frame of the drive');
  return Array.from(spans, ([seq, frames]) => batchOf(seq, spanUs, frames, startUs));
}

const batchOf = (
  seq: number,
  spanUs: number,
  frames: readonly CanFrame[],
  originUs: number,
): Batch => ({
  vehicle: 'veh-1',
  session: 's1',
  seq,
  campaign: 'bench',
  campaignVersion: 1,
  fromUs: seq * spanUs,
  untilUs: (seq + 1) * spanUs,
  clock: {
    monotonicUs: seq * spanUs,
    wallUs: 1_780_000_000_000_000 + seq * spanUs,
    source: 'gnss',
  },
  end: false,
  counts: { seen: frames.length, matched: frames.length, recorded: frames.length, dropped: {} },
  groups: groupFrames(frames, originUs),
});

const gzip = (body: Uint8Array): Uint8Array => gzipSync(body, { level: 6 });

/** Mean over the drive of the bytes that a frame takes, heads of batches included. */
function bytesPerFrame(
  batches: readonly Batch[],
  format: 'cbor' | 'json',
  pack: (body: Uint8Array) => Uint8Array,
): number {
  const bytes = batches.reduce((sum, batch) => sum + pack(encodeBatch(batch, format)).length, 0);
  return bytes / batches.reduce((sum, batch) => sum + frameCount(batch), 0);
}

/** Median time a frame of `work`, which handles the whole drive. */
function nsPerFrame(clock: Clock, frames: number, work: () => void): number {
  const tookMs: number[] = [];
  for (let repetition = 0; repetition <= REPETITIONS; repetition++) {
    const startMs = clock.monotonicMs();
    work();
    if (repetition > 0) tookMs.push(clock.monotonicMs() - startMs);
  }
  const sorted = tookMs.toSorted((a, b) => a - b);
  const median = must(sorted[Math.floor(sorted.length / 2)], 'median of the repetitions');
  return (median * 1_000_000) / frames;
}

/**
 * What the recorded drive costs on the wire: exact sizes, the same on every machine, and the
 * codec's time on this one (without the compression).
 */
export async function wireBench(clock: Clock, root = '.'): Promise<readonly BenchRow[]> {
  const path = `${root}/${DRIVE}`;
  const [tenS, oneS] = [await cutDrive(path, 10), await cutDrive(path, 1)];
  const frames = tenS.reduce((sum, batch) => sum + frameCount(batch), 0);
  const bodies = tenS.map((batch) => encodeBatch(batch, 'cbor'));
  const perFrame = bytesPerFrame(tenS, 'cbor', gzip);
  const size = (name: string, value: number): BenchRow => ({
    name: `wire, ${name}`,
    value,
    unit: 'bytes/frame',
  });
  const encodeAll = (): void => tenS.forEach((batch) => encodeBatch(batch, 'cbor'));
  const decodeAll = (): void => bodies.forEach((body) => decodeBatch(body, 'application/cbor'));
  return [
    {
      ...size('CBOR, gzip 6, batches of 10 s', perFrame),
      target: `<= ${TARGET_BYTES_PER_FRAME}`,
      met: perFrame <= TARGET_BYTES_PER_FRAME,
    },
    size('CBOR, zstd, batches of 10 s', bytesPerFrame(tenS, 'cbor', zstdCompressSync)),
    size('CBOR, gzip 6, batches of 1 s', bytesPerFrame(oneS, 'cbor', gzip)),
    size('JSON, gzip 6, batches of 10 s', bytesPerFrame(tenS, 'json', gzip)),
    size(
      'CBOR, not compressed, batches of 10 s',
      bytesPerFrame(tenS, 'cbor', (body) => body),
    ),
    { name: 'wire, encode CBOR', value: nsPerFrame(clock, frames, encodeAll), unit: 'ns/frame' },
    { name: 'wire, decode CBOR', value: nsPerFrame(clock, frames, decodeAll), unit: 'ns/frame' },
  ];
}
