import { afterEach, expect, test } from 'vitest';
import { request } from 'undici';
import { recordedTracing } from '#kernel/telemetry/testing/recorded-tracing.ts';
import { parseTrigger } from '#eventing/dispatch/trigger-spec.ts';
import { exportTrigger, listenForExports } from './export-sink.ts';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';
import type { ExportSink } from './export-sink.ts';

let sink: ExportSink | undefined;
afterEach(async () => {
  await sink?.close();
  sink = undefined;
});

const DATA: DatasetExported = {
  vehicle: 'veh-0001',
  session: 's1',
  window: null,
  revision: 1,
  files: 3,
  batches: [{ firstSeq: 0, lastSeq: 59 }],
};

async function send(
  data: unknown,
  type = 'io.tachograph.dataset.exported.v1',
): Promise<{ status: number; taken: DatasetExported[] }> {
  const taken: DatasetExported[] = [];
  sink = await listenForExports((exported) => taken.push(exported));
  const answer = await request(sink.uri, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': 'export/1',
      'ce-source': '/tachograph/export',
      'ce-type': type,
    },
    body: typeof data === 'string' ? data : JSON.stringify(data),
  });
  await answer.body.dump();
  return { status: answer.statusCode, taken };
}

test('listenForExports with an announcement: taken, 200', async () => {
  expect(await send(DATA)).toEqual({ status: 200, taken: [DATA] });
});

test.each([
  ['another type', DATA, 'io.tachograph.window.ready.v1', 400],
  ['a field that is wrong', { ...DATA, window: -1 }, undefined, 400],
  ['no JSON', '{', undefined, 400],
  ['more than an event may hold', 'x'.repeat(300_000), undefined, 413],
])('listenForExports with %s: refused, not taken', async (_, data, type, status) => {
  expect(await send(data, type)).toEqual({ status, taken: [] });
});

test('exportTrigger: a Trigger of the Broker at the address', () => {
  const trigger = exportTrigger(
    'sink',
    'http://127.0.0.1:1/tachograph/default',
    'http://127.0.0.1:2/',
  );
  expect(parseTrigger(trigger)).toMatchObject({
    name: 'sink',
    broker: { namespace: 'tachograph', name: 'default' },
    filter: { type: 'io.tachograph.dataset.exported.v1' },
    subscriber: { uri: 'http://127.0.0.1:2/' },
  });
});

test('listenForExports that is traced: a span below its delivery, with what it waited for', async () => {
  const { tracing, spans } = recordedTracing(() => 1_767_600_000_000);
  sink = await listenForExports(() => {}, tracing);
  const place = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const answer = await request(sink.uri, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': 'export/1',
      'ce-source': '/tachograph/export',
      'ce-type': 'io.tachograph.dataset.exported.v1',
      traceparent: place,
      'x-request-start': 't=1767599999.998000',
    },
    body: JSON.stringify({ ...DATA, window: 7 }),
  });
  await answer.body.dump();
  expect(spans).toHaveLength(1);
  expect(spans[0]).toMatchObject({
    start: { name: 'handle', kind: 'consumer', parent: { traceparent: place } },
    attributes: {
      'faas.name': 'sink',
      'tachograph.vehicle': 'veh-0001',
      'tachograph.session': 's1',
      'tachograph.window': 7,
      'tachograph.parent.from': 'header',
    },
    endMs: 1_767_600_000_000,
  });
  expect(spans[0]?.marks[0]).toEqual({ phase: 'queue', fromUs: -2_000, lengthUs: 2_000 });
});
