import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { answerOf, FakeGateway, recordAll } from '#loadtest/vehicles/testing/fake-gateway.ts';
import { canFrame } from '#loadtest/vehicles/testing/frames.ts';
import { runUntil } from '#loadtest/vehicles/testing/run-until.ts';
import { vehicleIdentity } from '#loadtest/vehicles/identities.ts';
import { replay } from './replay.ts';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';
import type { ReplayOptions, ReplayResult } from './replay.ts';
import type { SessionProgress } from './export-tracker.ts';

const DRIVE = {
  frames: Array.from({ length: 30 }, (_, index) => canFrame(index * 100_000)),
  faults: 0,
  firstFaults: [],
};

/** Of one window with its batch; of a session with all up to its last. */
const announcement = (
  vehicle: string,
  session: string,
  window: number | null,
  seq: number,
): DatasetExported => ({
  vehicle,
  session,
  window,
  revision: 1,
  files: 2,
  batches: [{ firstSeq: window ?? 0, lastSeq: window ?? seq }],
});

interface Run {
  readonly result: ReplayResult;
  readonly progress: readonly (readonly SessionProgress[])[];
}

/** A pipeline that exports each stored batch 50 ms later, and the session after its end. */
async function run(
  gateway: FakeGateway,
  options: Partial<ReplayOptions> = {},
  isExported: (window: number | null) => boolean = () => true,
): Promise<Run> {
  const clock = new VirtualClock();
  const progress: (readonly SessionProgress[])[] = [];
  const running = replay({
    vehicles: [vehicleIdentity(1, 0), vehicleIdentity(1, 1)],
    drive: DRIVE,
    databases: new Map(),
    speed: 2,
    seed: 1,
    campaign: gateway.definition,
    clock,
    transport: gateway,
    gzip: (body) => Promise.resolve(gzipSync(body)),
    subscribe: (onExport) => {
      gateway.onStored = ({ vehicle, session, seq, end }) => {
        const announce = (window: number | null): void => {
          const data = announcement(vehicle, session, window, seq);
          if (isExported(window)) void clock.sleep(50).then(() => onExport(data));
        };
        announce(seq);
        if (end) announce(null);
      };
      return Promise.resolve();
    },
    onProgress: (state) => progress.push(state),
    progressEveryMs: 500,
    limits: { stallMs: 2_000, drainMs: 20_000 },
    signal: new AbortController().signal,
    ...options,
  });
  return { result: await runUntil(clock, running), progress };
}

test('replay of two vehicles: all batches out, each with its latency from the intended time', async () => {
  const { result, progress } = await run(new FakeGateway(recordAll()));
  expect(result.problems).toEqual([]);
  expect(result.agents.map(({ failure }) => failure)).toEqual([null, null]);
  expect(result.records).toHaveLength(6);
  for (const { exportedMs, intendedMs, outcome } of result.records) {
    expect(outcome).toBe('stored');
    expect((exportedMs ?? 0) - intendedMs).toBeGreaterThan(49.99);
  }
  expect(result.announcements).toBe(8);
  expect(progress.at(-1)?.every(({ compacted, exported }) => compacted && exported === 3)).toBe(
    true,
  );
});

test('replay at speed 2: batches of a vehicle are due every half second, from its phase on', async () => {
  const { result } = await run(new FakeGateway(recordAll()));
  const due = (index: number): readonly number[] =>
    result.records
      .filter(({ vehicle }) => vehicle === vehicleIdentity(1, index).vehicle)
      .map(({ intendedMs }) => intendedMs);
  const [first, second] = [due(0), due(1)];
  const gaps = first.slice(1).map((ms, index) => ms - (first[index] ?? 0));
  expect(gaps.map(Math.round)).toEqual([500, 500]);
  const shiftMs = ((vehicleIdentity(1, 1).phase - vehicleIdentity(1, 0).phase) * 1_000) / 2;
  expect((second[0] ?? 0) - (first[0] ?? 0)).toBeCloseTo(shiftMs, 6);
});

test('replay with a window that never comes out: gives up and names what is missing', async () => {
  const { result } = await run(new FakeGateway(recordAll()), {}, (window) => window !== 1);
  expect(result.problems).toEqual([
    'gave up: nothing moved for 3 s',
    expect.stringMatching(/^veh-0001\/s\w+: 1 batches without their windows' announcement$/),
    expect.stringMatching(/^veh-0002\/s\w+: 1 batches without their windows' announcement$/),
  ]);
  // Their sessions' files hold them.
  expect(result.records.filter(({ exportedMs }) => exportedMs === null)).toEqual([]);
});

test('replay that always moves a little: ends at the limit all the same', async () => {
  const gateway = new FakeGateway(recordAll());
  // Taken, but only at the 59th attempt, long after the limit.
  gateway.respond = (_, attempt) => (attempt < 59 ? answerOf(503) : undefined);
  const limits = { stallMs: 30_000, drainMs: 5_000 };
  const { result } = await run(gateway, { limits });
  expect(result.problems[0]).toBe('vehicle veh-0001 failed: the run was stopped');
  const gaveUp = 'gave up: not everything was out 5 s after the last batch was due';
  expect(result.problems).toContain(gaveUp);
  expect(result.records.every(({ outcome }) => outcome === 'unresolved')).toBe(true);
});

test('replay with a vehicle that may not check in: the others replay, the problem is told', async () => {
  const gateway = new FakeGateway(recordAll());
  const checkIn = gateway.checkIn.bind(gateway);
  gateway.checkIn = (vehicle, report) =>
    vehicle === 'veh-0001' ? Promise.resolve(answerOf(401)) : checkIn(vehicle, report);
  const { result } = await run(gateway);
  expect(result.problems).toEqual([expect.stringContaining('vehicle veh-0001 failed: check-in')]);
  expect(result.records).toHaveLength(3);
});

test('replay that is aborted: rejects with the reason, all vehicles stopped', async () => {
  const abort = new AbortController();
  const gateway = new FakeGateway(recordAll());
  gateway.respond = (seq) => {
    if (seq === 1) abort.abort(new Error('Interrupted'));
    return undefined;
  };
  await expect(run(gateway, { signal: abort.signal })).rejects.toThrow('Interrupted');
  expect(gateway.batches.length).toBeLessThan(6);
});
