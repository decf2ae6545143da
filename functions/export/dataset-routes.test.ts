import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveStage, type ServedStage } from '#kernel/runtime/testing/serve-stage.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { createExportStage } from './function.ts';
import {
  eventOf,
  insertCampaign,
  insertReceipt,
  insertRecording,
  insertSession,
  insertWindow,
  sessionEvent,
  testContext,
  VEHICLE,
  windowEvent,
} from './testing/session-facts.ts';

const root = mkdtempSync(join(tmpdir(), 'tachograph-routes-'));
const store = memoryStore();
const config = { filesUrl: `folder:${root}`, engineerTokenSha256: sha256Hex('token') };
const headers = { authorization: 'Bearer token' };
let app: ServedStage;
let url = '';

beforeAll(async () => {
  const stage = createExportStage(config);
  const context = testContext(store);
  app = await serveStage(stage, context);
  await insertRecording(store, 2);
  await insertSession(store, [1, 1]);
  const signal = new AbortController().signal;
  for (const event of [windowEvent(0), sessionEvent()]) await stage.handle(event, context, signal);
  url = await app.listen();
});
afterAll(async () => {
  await app.close();
  rmSync(root, { recursive: true, force: true });
});

const get = (url: string, more: Record<string, string> = {}) =>
  app.inject({ method: 'GET', url: `/v1/datasets/${url}`, headers: { ...headers, ...more } });

const CSV = 'v1/s1/files/recorded/can0-MOTION.csv';

test.each(['v1', 'v1/s1', CSV])('GET %s + no token or a wrong one is refused', async (path) => {
  for (const more of [{ authorization: '' }, { authorization: 'Bearer other' }]) {
    expect((await get(path, more)).statusCode).toBe(401);
  }
});

test('GET vehicle + lists its sessions, after a cursor, to a limit', async () => {
  for (const session of ['s2', 's3']) {
    await store.insert('exports', `v1/${session}/00000000/0001`, { files: [] });
  }
  expect((await get('v1')).json()).toEqual({
    vehicle: 'v1',
    sessions: [
      { session: 's1', revision: 1, compacted: true },
      { session: 's2', revision: null, compacted: false },
      { session: 's3', revision: null, compacted: false },
    ],
    next: null,
  });
  const page = (await get('v1?limit=1&after=s1')).json();
  expect(page).toMatchObject({ sessions: [{ session: 's2' }], next: 's2' });
  expect((await get('v2')).json()).toMatchObject({ sessions: [], next: null });
});

test.each(['v1?limit=0', 'v1?limit=1001', 'v1?limit=x', '%00', '..%2f..', 'a'.repeat(65)])(
  'GET %s + is a clear 400',
  async (path) => {
    const answer = await get(path);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error.message).not.toBe('');
  },
);

test('GET session + gives its files and its account', async () => {
  const dataset = (await get('v1/s1')).json();
  expect(dataset).toMatchObject({ vehicle: 'v1', session: 's1', revision: 1, compacted: true });
  expect(dataset.files.map(({ name }: { name: string }) => name)).toContain(
    'recorded/can0-MOTION.csv',
  );
  expect(dataset.account).toMatchObject({
    schema: 'tachograph.session/1',
    frames: { recorded: 7 },
  });
  expect((await get('v1/s9')).json().error).toMatchObject({ code: 'DATASET_UNKNOWN' });
});

test('GET file + whole: type, length, tag of its hash', async () => {
  const answer = await get(CSV);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-length': String(answer.rawPayload.length),
    'accept-ranges': 'bytes',
    etag: `"${sha256Hex(answer.rawPayload)}"`,
    'content-disposition': 'attachment; filename="can0-MOTION.csv"',
    'x-content-type-options': 'nosniff',
  });
  expect(answer.body.split('\r\n')[0]).toBe('time_us,COUNT,SPEED,GEAR');
});

test('GET file + a range gives 206 with its bytes', async () => {
  const whole = (await get(CSV)).rawPayload;
  const answer = await get(CSV, { range: 'bytes=8-12' });
  expect(answer.statusCode).toBe(206);
  expect(answer.body).toBe('COUNT');
  expect(answer.headers['content-range']).toBe(`bytes 8-12/${whole.length}`);
  expect(answer.headers['content-length']).toBe('5');
  const rest = await get(CSV, { range: 'bytes=-3' });
  expect(rest.rawPayload).toEqual(whole.subarray(-3));
});

test('GET file + a range beyond the end gives 416 and the size', async () => {
  const { length } = (await get(CSV)).rawPayload;
  const answer = await get(CSV, { range: `bytes=${length}-` });
  expect(answer.statusCode).toBe(416);
  expect(answer.headers['content-range']).toBe(`bytes */${length}`);
  expect(answer.json().error).toMatchObject({ code: 'RANGE_UNSATISFIABLE', bytes: length });
});

test('GET file + If-Range with its tag honours the range, with another one sends the whole', async () => {
  const { etag = '' } = (await get(CSV)).headers;
  const range = 'bytes=0-0';
  expect((await get(CSV, { range, 'if-range': etag })).statusCode).toBe(206);
  expect((await get(CSV, { range, 'if-range': '"other"' })).statusCode).toBe(200);
  const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
  expect((await get(CSV, { range, 'if-range': date })).statusCode).toBe(200);
});

test('GET file + If-None-Match with its tag gives 304 and no body', async () => {
  const { etag = '' } = (await get(CSV)).headers;
  const answer = await get(CSV, { 'if-none-match': `"x", ${etag}` });
  expect(answer.statusCode).toBe(304);
  expect(answer.body).toBe('');
});

test('HEAD file + gives the headers of the whole file and ignores a range', async () => {
  const { length } = (await get(CSV)).rawPayload;
  const answer = await app.inject({
    method: 'HEAD',
    url: `/v1/datasets/${CSV}`,
    headers: { ...headers, range: 'bytes=0-0' },
  });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-length']).toBe(String(length));
  expect(answer.body).toBe('');
});

/** Over a socket: `inject` and `fetch` would resolve `..` before it is sent. */
const rawGet = (path: string): Promise<{ status: number | undefined; body: string }> =>
  new Promise((resolve, reject) => {
    httpGet(url, { path, headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      answer.on('end', () => resolve({ status: answer.statusCode, body }));
    }).on('error', reject);
  });

test.each([
  '../../../secret.csv',
  '..%2f..%2f..%2fsecret.csv',
  '%2e%2e/%2e%2e/%2e%2e/secret.csv',
  'recorded/..%2f..%2f..%2f..%2fsecret.csv',
  'recorded/../../../../secret.csv',
  'recorded/can0-MOTION.csv%00',
  'recorded',
  'recorded/',
  'recorded/can0-NONE.csv',
  '+unpublished/x',
  `recorded/${'a'.repeat(300)}.csv`,
])('GET file %s + leads nowhere', async (name) => {
  writeFileSync(join(root, 'secret.csv'), 'TOP SECRET');
  const answer = await rawGet(`/v1/datasets/v1/s1/files/${name}`);
  expect(answer.status).toBe(404);
  expect(answer.body).not.toContain('TOP SECRET');
  expect(answer.body).toContain('FILE_UNKNOWN');
});

test('routes + are described with summary, parameters and answers', async () => {
  const { paths } = (await app.inject('/openapi.json')).json();
  const own = Object.keys(paths).filter((path) => path.startsWith('/v1/datasets'));
  expect(own).toHaveLength(3);
  for (const path of own) {
    expect(paths[path].get).toMatchObject({
      summary: expect.any(String),
      parameters: expect.any(Array),
    });
  }
});

test('POST / + an event of the stage is handled by the served stage', async () => {
  const data = { vehicle: VEHICLE, session: 's1', revision: 1 };
  const { id, source, type } = eventOf('session.closed.v1', data);
  const answer = await app.inject({
    method: 'POST',
    url: '/',
    headers: {
      'ce-specversion': '1.0',
      'ce-id': id,
      'ce-source': source,
      'ce-type': type,
      'content-type': 'application/json',
    },
    payload: JSON.stringify(data),
  });
  expect(answer.statusCode).toBe(204);
});

test('createExportStage + no engineer token: the stage refuses to start', () => {
  expect(() => createExportStage({ ...config, engineerTokenSha256: '' })).toThrow(
    'ENGINEER_TOKEN_SHA256',
  );
});

test('GET session + an open session lists its parts', async () => {
  const other = memoryStore();
  await insertCampaign(other);
  await insertReceipt(other, 0);
  await insertWindow(other, 0);
  const folder = mkdtempSync(join(root, 'open-'));
  const stage = createExportStage({ ...config, filesUrl: `folder:${folder}` });
  const context = testContext(other);
  const server = await serveStage(stage, context);
  await stage.handle(windowEvent(0), context, new AbortController().signal);
  const dataset = (await server.inject({ url: '/v1/datasets/v1/s1', headers })).json();
  expect(dataset).toMatchObject({ revision: null, compacted: false, account: null });
  const [{ name }] = dataset.files;
  expect(name).toBe('parts/00000000-0001/raster/can0-MOTION.csv');
  const file = await server.inject({ url: `/v1/datasets/v1/s1/files/${name}`, headers });
  expect(file.statusCode).toBe(200);
  await server.close();
});
