import { request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { TachographError } from '#kernel/core/errors.ts';
import { silentLog } from '#kernel/system/log.ts';
import type { CloudEvent } from '../contracts/cloud-event.ts';
import { gate } from '../testing/gate.ts';
import type { Publisher } from './ingress.ts';
import { startIngress } from './ingress.ts';

const CE = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

async function start(
  publish: Publisher['publish'] = () => Promise.resolve({ duplicate: false }),
  maxPublishing = 10,
): Promise<{
  post: (
    headers: Record<string, string>,
    body?: string | Uint8Array,
    path?: string,
    method?: 'POST' | 'GET',
  ) => Promise<Answer>;
  published: CloudEvent[];
  stats: () => unknown;
  stop: () => Promise<void>;
}> {
  const published: CloudEvent[] = [];
  const ingress = await startIngress({
    brokers: [{ namespace: 'ns', name: 'default' }],
    publisher: {
      publish: async (broker, event) => {
        const result = await publish(broker, event);
        published.push(event);
        return result;
      },
    },
    log: silentLog,
    port: 0,
    maxPublishing,
  });
  onTestFinished(() => ingress.stop());
  return {
    post: async (headers, body = '', path = '/ns/default', method = 'POST') => {
      const answer = await request(ingress.url + path, {
        method,
        headers,
        body: method === 'GET' ? null : body,
      });
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: answer.headers, body: text };
    },
    published,
    stats: () => ingress.stats(),
    stop: () => ingress.stop(),
  };
}

test('the ingress answers 202 with an empty body in both modes', async () => {
  const { post, published } = await start();
  expect(await post(CE, 'x')).toMatchObject({ status: 202, body: '' });
  const structured = '{"specversion":"1.0","id":"2","source":"/s","type":"t","data":{"a":1}}';
  const type = { 'content-type': 'application/cloudevents+json' };
  expect(await post(type, structured)).toMatchObject({ status: 202, body: '' });
  expect(published.map(({ id, data }) => [id, Buffer.from(data).toString()])).toEqual([
    ['1', 'x'],
    ['2', '{"a":1}'],
  ]);
});

test.each([
  ['no event at all', { 'content-type': 'application/json' }, '{}', 400, /ce-specversion is miss/],
  ['no id', { ...CE, 'ce-id': '' }, '', 400, /"id" must not be empty/],
  ['a foreign specversion', { ...CE, 'ce-specversion': '0.3' }, '', 400, /specversion = "0.3"/],
  [
    'a batch of events',
    { 'content-type': 'application/cloudevents-batch+json' },
    '[]',
    400,
    /cloudevents-batch\+json is not supported/,
  ],
  ['XML', { 'content-type': 'application/cloudevents+xml' }, '<e/>', 400, /is not supported/],
  ['compressed', { ...CE, 'content-encoding': 'gzip' }, 'x', 415, /"gzip" is not accepted/],
  ['one byte too many', CE, Buffer.alloc(256 * 1024 + 1), 413, /at most 262144/],
  ['far too much', CE, Buffer.alloc(5_000_000), 413, /5000000 bytes; at most 262144/],
] as const)('the ingress refuses %s', async (_, headers, body, status, message) => {
  const { post, published, stats } = await start();
  const answer = await post(headers, body);
  expect(answer.status).toBe(status);
  expect((JSON.parse(answer.body) as { error: { message: string } }).error.message).toMatch(
    message,
  );
  expect(published).toEqual([]);
  expect(stats()).toEqual({ accepted: 0, duplicates: 0, refused: 1 });
});

test('the ingress refuses other paths and methods', async () => {
  const { post } = await start();
  expect((await post(CE, '', '/ns/other')).status).toBe(404);
  expect((await post(CE, '', '/ns/default/x')).status).toBe(404);
  expect((await post(CE, '', '/ns/default?x=1')).status).toBe(202);
  const get = await post(CE, '', '/ns/default', 'GET');
  expect([get.status, get.headers['allow']]).toEqual([405, 'POST']);
});

test('the ingress answers 503 with Retry-After when the event was not stored', async () => {
  const { post } = await start(() =>
    Promise.reject(new TachographError('BROKER_UNAVAILABLE', { detail: 'gone' })),
  );
  const answer = await post(CE);
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  expect(answer.body).toContain('BROKER_UNAVAILABLE');
});

test('the ingress answers 500 without a stack trace for a bug', async () => {
  const { post } = await start(() => Promise.reject(new Error('secret detail')));
  const answer = await post(CE);
  expect(answer.status).toBe(500);
  expect(answer.body).not.toContain('secret');
});

test('the ingress refuses an event above maxPublishing with 503 instead of queueing it', async () => {
  const { opened, open } = gate();
  const { post } = await start(async () => {
    await opened;
    return { duplicate: false };
  }, 2);
  // The third one to arrive is answered while the first two still wait.
  const answers = [post(CE), post(CE), post(CE)];
  const first = await Promise.race(answers);
  expect([first.status, first.headers['retry-after']]).toEqual([503, '1']);
  expect(first.body).toContain('BROKER_BUSY');
  open();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(2);
});

test('the ingress that stops answers what it has begun', async () => {
  const { opened, open } = gate();
  const begun = Promise.withResolvers<void>();
  const { post, stop } = await start(async () => {
    begun.resolve();
    await opened;
    return { duplicate: false };
  });
  const answer = post(CE);
  await begun.promise;
  const stopped = stop();
  open();
  expect(await answer).toMatchObject({ status: 202, headers: { connection: 'close' } });
  await stopped;
});
