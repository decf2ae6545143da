import type { BlockCodec } from '#kernel/columns/block-format.ts';
import type { FrameAccount, SignalQuality } from '#kernel/facts/facts.ts';
import { cleanse } from './cleanse.ts';
import { compress, type CompressedWindow } from './compress.ts';
import { decode } from './decode.ts';
import { resample } from './resample.ts';
import type { WindowInput } from './window-input.ts';

export const STEPS = ['decode', 'cleanse', 'resample', 'compress'] as const;
type StepName = (typeof STEPS)[number];

/** Runs one step: where a caller measures it, or gives up between two. */
export type RunStep = <T>(name: StepName, work: () => T) => Promise<T>;

export interface ProcessedWindow extends CompressedWindow {
  readonly frames: FrameAccount;
  readonly unsortedFrames: number;
  readonly duplicateFrames: number;
  readonly quality: readonly SignalQuality[];
}

/** A window's result: a pure function of its input, so that equal windows give byte-equal blocks. */
export async function processWindow(
  input: WindowInput,
  codec: BlockCodec,
  step: RunStep,
): Promise<ProcessedWindow> {
  const decoded = await step('decode', () => decode(input));
  const quality = await step('cleanse', () => cleanse(decoded));
  const raster = await step('resample', () => resample(decoded, input));
  const blocks = await step('compress', () => compress(decoded, raster, codec));
  const { frames, unsortedFrames, duplicateFrames } = decoded;
  return { ...blocks, frames, unsortedFrames, duplicateFrames, quality };
}
