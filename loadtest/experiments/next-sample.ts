import { join } from 'node:path';
import { SCALING_FILES } from '#loadtest/results/scaling-summary.ts';
import { readNdjson } from '#loadtest/results/ndjson.ts';
import type { SampleRow } from '#infra/local/cluster-records.ts';
import type { Clock } from '#kernel/core/clock.ts';

/** A sample comes each second; on a machine that hardly gets to run, later. */
const GIVE_UP_MS = 10_000;
const POLL_MS = 50;

/**
 * The moment of the next sample, in ms since the cluster's start: a border of a measured span, at which
 * the record says for itself how everything stood. Without samples for ten seconds, the last one's.
 */
export async function nextSampleMs(
  folder: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  const before = await lastSampleMs(folder);
  const untilMs = clock.monotonicMs() + GIVE_UP_MS;
  for (;;) {
    await clock.sleep(POLL_MS, signal);
    const atMs = await lastSampleMs(folder);
    if (atMs > before || clock.monotonicMs() >= untilMs) return atMs;
  }
}

/** 0 before the first one. */
async function lastSampleMs(folder: string): Promise<number> {
  let lastMs = 0;
  for await (const { atMs } of readNdjson<SampleRow>(join(folder, SCALING_FILES.samples))) {
    lastMs = atMs;
  }
  return lastMs;
}
