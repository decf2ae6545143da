import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import { memoryStore } from '../store/memory-store.ts';
import { silentLog, type Log } from '../system/log.ts';
import { DONE, type Outcome, type StageDefinition } from './stage.ts';
import { serveStage, type ServedStage } from './testing/serve-stage.ts';

const store = memoryStore();
const apps: ServedStage[] = [];

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  await store.removePrefix('parked', '', 1_000);
});

async function serve(
  handle: () => Promise<Outcome>,
  extra: Partial<StageDefinition> = {},
  log: Log = silentLog,
): Promise<ServedStage> {
  const clock = new VirtualClock();
  const context = { clock, store, log, software: 'tachograph/1.2.3', emit: async () => {} };
  const definition = { name: 'export', consumes: ['known'], handle, ...extra } as const;
  const app = await serveStage(definition, context);
  apps.push(app);
  return app;
}

const headers = (type: string): Record<string, string> => ({
  'ce-id': 'a/b',
  'ce-source': '/test',
  'ce-type': type,
  'ce-specversion': '1.0',
  'ce-subject': 'veh-1',
  'content-type': 'application/json',
});

const post = (app: ServedStage, type = 'known', url = '/') =>
  app.inject({ method: 'POST', url, headers: headers(type), payload: '{}' });

const parked = () => store.range('parked', '', '\u{10FFFF}', { limit: 10 });

test('event that is done is answered with an empty 204', async () => {
  const answer = await post(await serve(async () => DONE));
  expect(answer.statusCode).toBe(204);
  expect(answer.body).toBe('');
});

test('event to try again is answered 503 with whole seconds, rounded up', async () => {
  const app = await serve(async () => ({ kind: 'retry', afterMs: 1_200, reason: 'r' }));
  const answer = await post(app);
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('2');
});

test('event that cannot be used is parked with its reason and answered 2xx', async () => {
  const app = await serve(async () => ({ kind: 'parked', reason: 'poison', detail: 'bad bytes' }));
  expect((await post(app)).statusCode).toBe(204);
  const [fact] = await parked();
  expect(fact?.id).toBe('veh-1/export/a~2fb');
  expect(fact?.document).toMatchObject({ reason: 'poison', detail: 'bad bytes' });
  expect(fact?.document['event']).toContain('"id":"a/b"');
});

test('event of an unknown type is parked', async () => {
  expect((await post(await serve(async () => DONE), 'foreign')).statusCode).toBe(204);
  expect((await parked())[0]?.document).toMatchObject({ reason: 'unknownType' });
});

test('event whose data is at fault is parked with the code', async () => {
  const app = await serve(async () => {
    throw new TachographError('EVENT_INVALID', { detail: 'no vehicle' });
  });
  expect((await post(app)).statusCode).toBe(204);
  expect((await parked())[0]?.document).toMatchObject({ reason: 'EVENT_INVALID' });
});

test('event at the dead-letter route is parked as exhausted with what was said of it', async () => {
  const app = await serve(async () => DONE);
  const answer = await app.inject({
    method: 'POST',
    url: '/dead-letter',
    headers: {
      ...headers('known'),
      'ce-knativeerrorcode': '500',
      'ce-knativeerrordata': btoa('boom'),
    },
    payload: '{}',
  });
  expect(answer.statusCode).toBe(204);
  expect((await parked())[0]?.document).toMatchObject({
    reason: 'exhausted',
    detail: 'code 500: boom',
  });
});

test('failing store is answered 503 with Retry-After', async () => {
  const app = await serve(async () => {
    throw new TachographError('STORE_BUSY', { detail: 'locked' });
  });
  const answer = await post(app);
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
  expect(answer.json()).toMatchObject({ error: { code: 'STORE_BUSY' } });
});

test('bug is answered 500 without a stack trace, which goes to the log', async () => {
  const lines: unknown[] = [];
  const log = {
    ...silentLog,
    error: (_: string, fields?: Readonly<Record<string, unknown>>) => void lines.push(fields),
  };
  const app = await serve(
    async () => {
      throw new Error('secret detail');
    },
    {},
    log,
  );
  const answer = await post(app);
  expect(answer.statusCode).toBe(500);
  expect(answer.body).not.toContain('secret detail');
  expect(answer.body).not.toContain('.ts');
  expect(JSON.stringify(lines)).toContain('secret detail');
});

test('request that is no event is answered 400', async () => {
  const app = await serve(async () => DONE);
  const answer = await app.inject({ method: 'POST', url: '/', payload: 'x' });
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ error: { code: 'EVENT_INVALID' } });
});

test('event beyond 256 KiB is answered 413', async () => {
  const app = await serve(async () => DONE);
  const payload = ' '.repeat(262_145);
  const answer = await app.inject({ method: 'POST', url: '/', headers: headers('known'), payload });
  expect(answer.statusCode).toBe(413);
});

test('event beyond 256 KiB whose length is not told is answered 413', async () => {
  const url = await (await serve(async () => DONE)).listen();
  const pieces = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  const call = { method: 'POST', headers: headers('known'), body: pieces, duplex: 'half' } as const;
  const answer = await fetch(url, call);
  expect(answer.status).toBe(413);
  expect(answer.headers.get('connection')).toBe('close');
});

test('GET and HEAD of /healthz are answered 200, the latter without a body', async () => {
  const app = await serve(async () => DONE);
  expect((await app.inject('/healthz?probe')).json()).toEqual({ status: 'ok', stage: 'export' });
  const head = await app.inject({ method: 'HEAD', url: '/healthz' });
  expect([head.statusCode, head.body]).toEqual([200, '']);
});

test('a stage that is closed answers what is in flight, then takes nothing new', async () => {
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const app = await serve(async () => {
    entered.resolve();
    await leave.promise;
    return DONE;
  });
  const url = await app.listen();
  const call = fetch(url, { method: 'POST', headers: headers('known'), body: '{}' });
  await entered.promise;
  const closed = app.close();
  const late = await app.inject({ method: 'POST', url: '/', headers: headers('known') });
  expect(late.statusCode).toBe(503);
  expect(late.json()).toMatchObject({ error: { code: 'STAGE_STOPPING' } });
  leave.resolve();
  const answer = await call;
  expect([answer.status, answer.headers.get('connection')]).toEqual([204, 'close']);
  await closed;
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('routes of a stage that consumes events are made at the first request for one, once', async () => {
  let made = 0;
  const app = await serve(async () => DONE, {
    routes: (scope) => {
      made += 1;
      scope.get('/v1/things', () => ({ made }));
    },
  });
  await post(app);
  expect(made).toBe(0);
  const answers = await Promise.all([app.inject('/v1/things'), app.inject('/v1/things')]);
  expect(answers.map((answer) => answer.json())).toEqual([{ made: 1 }, { made: 1 }]);
});

test('routes that cannot be made now are made at a later request', async () => {
  let tries = 0;
  const app = await serve(async () => DONE, {
    routes: (scope) => {
      tries += 1;
      if (tries === 1) throw new TachographError('STORE_BUSY', { detail: 'locked' });
      scope.get('/v1/things', () => []);
    },
  });
  expect((await app.inject('/v1/things')).statusCode).toBe(503);
  expect((await app.inject('/v1/things')).statusCode).toBe(200);
});

test('routes of a stage that consumes none are made at its start: what fails there fails the start', async () => {
  const routes = (): never => {
    throw new TachographError('STORE_BUSY', { detail: 'locked' });
  };
  await expect(serve(async () => DONE, { consumes: [], routes })).rejects.toMatchObject({
    code: 'STORE_BUSY',
  });
});

test('unknown route is answered 404 with what was asked', async () => {
  const app = await serve(async () => DONE);
  const answer = await app.inject({ method: 'GET', url: '/nowhere' });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({ error: { code: 'ROUTE_UNKNOWN', path: '/nowhere' } });
});

test('path that is no URL is answered 400 in the words of the table', async () => {
  const answer = await (await serve(async () => DONE)).inject('/%ff');
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ error: { code: 'REQUEST_INVALID' } });
});

test.each([
  ['no HTTP', 'NONSENSE\r\n\r\n', 400],
  ['too many headers', `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('request with %s is answered %s in the words of the table', async (_, text, status) => {
  const app = await serve(async () => DONE);
  const url = new URL(await app.listen());
  const socket = connect(Number(url.port), url.hostname);
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(text);
  await closed;
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  expect(answer).toContain('"code":"REQUEST_INVALID"');
});

test('handle is aborted when the caller goes away', async () => {
  const entered = Promise.withResolvers<AbortSignal>();
  const gone = Promise.withResolvers<void>();
  const app = await serve(async () => DONE, {
    handle: async (_event, _context, signal) => {
      entered.resolve(signal);
      await gone.promise;
      return DONE;
    },
  });
  const url = await app.listen();
  const caller = new AbortController();
  const call = fetch(url, {
    method: 'POST',
    headers: headers('known'),
    body: '{}',
    signal: caller.signal,
  });
  const signal = await entered.promise;
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
  caller.abort();
  await expect(call).rejects.toThrow('aborted');
  await aborted;
  gone.resolve();
  expect(signal.aborted).toBe(true);
});

test('stage with routes describes them and serves a page to browse them', async () => {
  const app = await serve(async () => DONE, {
    routes: (scope) => {
      scope.get('/v1/things', { schema: { summary: 'List things' } }, () => []);
    },
  });
  const spec = (await app.inject('/openapi.json')).json<{ paths: Record<string, unknown> }>();
  expect(Object.keys(spec.paths)).toEqual(['/v1/things']);
  expect((await app.inject('/docs')).body).toContain('swagger-ui-bundle.js');
  const script = await app.inject('/docs/swagger-ui-bundle.js');
  expect(script.headers['content-type']).toContain('text/javascript');
  expect(script.body.length).toBeGreaterThan(100_000);
  expect((await app.inject('/docs/..%2f..%2fpackage.json')).statusCode).toBe(404);
});
