import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { must } from '#kernel/core/assert.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';
import { nextPingMs, parsePingSchedule } from './ping-schedule.ts';
import { readPing } from './ping-manifest.ts';
import { runPingSource } from './ping-source.ts';
import { settled } from './replicas/testing/fake-process.ts';

const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);
const schedule = (text: string) => must(parsePingSchedule(text), text);

test.each([
  ['* * * * *', 60],
  ['*/10 * * * *', 6],
  ['*/45 * * * *', 2],
  ['*/59 * * * *', 2],
  [' 5  * * * * ', 1],
  ['0,30,30 * * * *', 2],
])('parsePingSchedule of "%s" is due %i times an hour', (text, times) => {
  expect(parsePingSchedule(text)?.minutes).toHaveLength(times);
});

test.each(['', '* * * *', '*/0 * * * *', '*/60 * * * *', '60 * * * *', '1- * * * *', '0 1 * * *'])(
  'parsePingSchedule refuses "%s"',
  (text) => {
    expect(parsePingSchedule(text)).toBeUndefined();
  },
);

test.each([
  ['*/10 * * * *', '10:00:00.000', '10:10:00.000'],
  ['*/10 * * * *', '10:09:59.999', '10:10:00.000'],
  ['*/45 * * * *', '10:45:00.000', '11:00:00.000'],
  ['5 * * * *', '10:06:00.000', '11:05:00.000'],
])('nextPingMs of "%s" after %s is %s', (text, now, due) => {
  expect(nextPingMs(schedule(text), at(now))).toBe(at(due));
});

test('nextPingMs is always later, at most an hour away, and on a due minute', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4_102_444_800_000 }),
      fc.integer({ min: 1, max: 59 }),
      (nowMs, every) => {
        const dueMs = nextPingMs(schedule(`*/${every} * * * *`), nowMs);
        expect(dueMs).toBeGreaterThan(nowMs);
        expect(dueMs - nowMs).toBeLessThanOrEqual(3_600_000);
        expect(new Date(dueMs).getUTCMinutes() % every).toBe(0);
        expect(dueMs % 60_000).toBe(0);
      },
    ),
  );
});

const manifest = (spec: Record<string, string>): PlainManifest => ({
  apiVersion: 'sources.knative.dev/v1',
  kind: 'PingSource',
  metadata: { name: 'tick', namespace: 'lab' },
  spec,
});

test('readPing reads schedule, data and content type, with defaults', () => {
  expect(readPing(manifest({ schedule: '0 * * * *' }))).toEqual({
    name: 'tick',
    namespace: 'lab',
    schedule: { minutes: [0] },
    contentType: 'application/json',
    data: '',
  });
  const own = { schedule: '0 * * * *', contentType: 'text/plain', data: 'x' };
  expect(readPing(manifest(own))).toMatchObject({ contentType: 'text/plain', data: 'x' });
});

test('readPing of a schedule beyond minutes throws and says what is understood', () => {
  expect(() => readPing(manifest({ schedule: '0 3 * * *' }))).toThrow(
    'PingSource tick: schedule "0 3 * * *": use minutes (*/N, or a list) and four *',
  );
});

test('runPingSource sends at each due time, outlives a failure, and ends when aborted', async () => {
  const clock = new VirtualClock(at('10:04:30.000'));
  const sent: CloudEvent[] = [];
  let failing = false;
  const controller = new AbortController();
  const running = runPingSource(
    {
      name: 'tick',
      namespace: 'lab',
      schedule: schedule('*/10 * * * *'),
      contentType: 'application/json',
      data: '{}',
      clock,
      log: silentLog,
      send: async (event) => {
        if (failing) throw new Error('no broker');
        sent.push(event);
      },
    },
    controller.signal,
  );
  await clock.advance(330_000);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({
    id: 'ping/lab/tick/2026-01-01T10:10:00.000Z',
    source: '/apis/v1/namespaces/lab/pingsources/tick',
    type: 'dev.knative.sources.ping',
    time: '2026-01-01T10:10:00.000Z',
  });
  failing = true;
  await clock.advance(600_000);
  failing = false;
  await clock.advance(600_000);
  expect(sent.map(({ time }) => time?.slice(11, 16))).toEqual(['10:10', '10:30']);
  controller.abort();
  await settled();
  await running;
  expect(clock.sleeping).toBe(0);
});
