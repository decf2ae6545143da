import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { answerOf, FakeGateway, recordAll } from '#loadtest/vehicles/testing/fake-gateway.ts';
import { runUntil } from '#loadtest/vehicles/testing/run-until.ts';
import { recordedTracing } from '#kernel/telemetry/testing/recorded-tracing.ts';
import { driveEmulated, MAX_OUTSTANDING } from './drive-emulated.ts';
import { emulatedVehicle } from './emulated-vehicle.ts';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';
import type { EmulatedLoad } from './drive-emulated.ts';

/** A pipeline that exports each stored batch 50 ms later, and the session after its end. */
function start(gateway: FakeGateway, change: Partial<EmulatedLoad> = {}, isOut = () => true) {
  const clock = new VirtualClock();
  const running = driveEmulated({
    vehicles: [emulatedVehicle(0, 'r1'), emulatedVehicle(1, 'r1')],
    campaign: { campaign: 'emulated-r1', campaignVersion: 3 },
    arrivals: { kind: 'constant', ratePerS: 10 },
    durationMs: 1_000,
    seed: 1,
    clock,
    transport: gateway,
    subscribe: async (onExport) => {
      gateway.onStored = ({ vehicle, session, seq, end }) => {
        const announce = (window: number | null): void => {
          const data: DatasetExported = {
            vehicle,
            session,
            window,
            revision: 1,
            files: 0,
            batches: [],
          };
          if (isOut()) void clock.sleep(50).then(() => onExport(data));
        };
        announce(seq);
        if (end) announce(null);
      };
    },
    onProgress: () => undefined,
    progressEveryMs: 500,
    limits: { stallMs: 2_000, drainMs: 20_000 },
    signal: new AbortController().signal,
    ...change,
  });
  return { clock, running };
}

const run = (...args: Parameters<typeof start>) => {
  const { clock, running } = start(...args);
  return runUntil(clock, running);
};

test('driveEmulated: every planned batch is sent when it is due, and comes out', async () => {
  const gateway = new FakeGateway(recordAll());
  const result = await run(gateway);
  expect(result.problems).toEqual([]);
  expect(result.agents.map(({ vehicle, session }) => `${vehicle} ${session}`)).toEqual([
    'emu-0001 run-r1',
    'emu-0002 run-r1',
  ]);
  expect(result.records).toHaveLength(10);
  for (const record of result.records) {
    expect(record).toMatchObject({ outcome: 'stored', attempts: 1, emulated: true, frames: 0 });
    expect(record.readyMs - record.intendedMs).toBeLessThan(5);
    expect(record.exportedMs).not.toBeNull();
  }
  expect(
    gateway.batches.every(({ emulated, groups }) => emulated === true && groups.length === 0),
  ).toBe(true);
  expect(gateway.batches.filter(({ end }) => end).map(({ seq }) => seq)).toEqual([4, 4]);
});

test('driveEmulated: refused, repeated and lost answers are told apart', async () => {
  const gateway = new FakeGateway(recordAll());
  gateway.respond = (seq, attempt) => {
    if (seq === 0) return answerOf(422, { error: {} });
    if (seq === 1 && attempt < 3) return answerOf(503);
    return seq === 2 && attempt === 1 ? 'lose' : undefined;
  };
  const { records, problems } = await run(gateway, { vehicles: [emulatedVehicle(0, 'r1')] });
  expect(problems).toEqual([]);
  expect(records.slice(0, 4)).toMatchObject([
    { outcome: 'refused', attempts: 1, exportedMs: null, detail: expect.stringContaining('422') },
    { outcome: 'stored', attempts: 3, duplicate: false },
    { outcome: 'stored', attempts: 2, duplicate: true },
    { outcome: 'stored', attempts: 1 },
  ]);
});

test('driveEmulated of a pipeline that exports nothing: gives up and names what is missing', async () => {
  const { problems } = await run(new FakeGateway(recordAll()), {}, () => false);
  expect(problems[0]).toBe('gave up: nothing moved for 2 s');
  expect(problems).toContain('emu-0001/run-r1: 5 batches not exported');
});

test('driveEmulated of a pipeline that never answers: gives up, what was not sent is counted', async () => {
  const gateway = new FakeGateway(recordAll());
  gateway.upload = (_request, signal) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    });
  const { records, problems } = await run(gateway, {
    arrivals: { kind: 'constant', ratePerS: 1_000 },
  });
  expect(records).toHaveLength(MAX_OUTSTANDING);
  expect(records.every(({ outcome }) => outcome === 'unresolved')).toBe(true);
  expect(problems).toContain(
    'the load was cut: 1 batches were held back because 500 had no answer yet',
  );
  expect(problems).toContain('500 of 1000 planned batches were not sent');
});

test('driveEmulated with one seed: one plan; with another: another', async () => {
  const intended = async (seed: number): Promise<readonly number[]> => {
    const arrivals = { kind: 'poisson', ratePerS: 20 } as const;
    const { records } = await run(new FakeGateway(recordAll()), { arrivals, seed });
    return records.map(({ intendedMs }) => intendedMs);
  };
  expect(await intended(2)).toEqual(await intended(2));
  expect(await intended(2)).not.toEqual(await intended(3));
});

test('driveEmulated that is interrupted: rejects with the reason', async () => {
  const abort = new AbortController();
  const { clock, running } = start(new FakeGateway(recordAll()), { signal: abort.signal });
  await clock.advance(300);
  abort.abort(new Error('Interrupted'));
  await expect(runUntil(clock, running)).rejects.toThrow('Interrupted');
});

test('driveEmulated that is traced: the batches begin at their intended times, by the clock of the spans', async () => {
  const gateway = new FakeGateway(recordAll());
  gateway.respond = (seq, attempt) => (seq === 1 && attempt === 1 ? answerOf(503) : undefined);
  const { tracing, named } = recordedTracing(() => 1_767_600_000_000.25);
  const { records, originWallMs } = await run(gateway, {
    vehicles: [emulatedVehicle(0, 'r1')],
    tracing,
  });
  expect(originWallMs).toBe(1_767_600_000_000.25);
  const batches = named('batch');
  expect(batches).toHaveLength(records.length);
  for (const [index, { start, place }] of batches.entries()) {
    expect(start.startMs).toBeCloseTo(originWallMs + (records[index]?.intendedMs ?? NaN), 3);
    expect(records[index]?.traceId).toBe(place.slice(3, 35));
  }
  const again = named('upload').filter(
    ({ attributes }) => attributes['http.request.resend_count'] === 1,
  );
  expect(again).toHaveLength(1);
});
