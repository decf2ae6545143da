import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, test } from 'vitest';
import { eventType } from '#eventing/contracts/catalog.ts';
import { readListeningMessage } from '../core/listening-message.ts';
import type { BurstsAnswer } from './bursts.ts';

const ENTRY = fileURLToPath(new URL('../../data-processing/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tachograph-stage-'));
const children: ChildProcess[] = [];

afterEach(async () => {
  await Promise.all(
    children.splice(0).map(
      (child) =>
        new Promise((resolve) => {
          child.once('exit', resolve);
          if (child.exitCode !== null || !child.kill('SIGKILL')) resolve(undefined);
        }),
    ),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Started {
  readonly port: number | undefined;
  readonly code: number | null;
  readonly log: string;
}

/** The process of data-processing with a demand: when it listens, or has ended. */
function start(demand: string, placement = 'inline'): Promise<Started> {
  const child = fork(ENTRY, [], {
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      STORE_URL: `sqlite:${join(folder, 'store.db')}`,
      DEMAND: demand,
      DEMAND_PLACEMENT: placement,
    },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  children.push(child);
  let log = '';
  child.stderr?.on('data', (piece: Buffer) => (log += piece.toString()));
  return new Promise((resolve) => {
    child.once('message', (message) => {
      const { address } = readListeningMessage(message) ?? {};
      const port = address !== undefined && 'port' in address ? address.port : undefined;
      resolve({ port, code: null, log });
    });
    child.once('close', (code) => resolve({ port: undefined, code, log }));
  });
}

const url = (port: number | undefined, path: string): string => `http://127.0.0.1:${port}${path}`;

const bursts = async (port: number | undefined): Promise<BurstsAnswer> =>
  (await (await fetch(url(port, '/bursts'))).json()) as BurstsAnswer;

/** Posts an event whose handling begins with a burst; the caller decides how long it waits. */
function post(port: number | undefined) {
  const call = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    headers: {
      'ce-specversion': '1.0',
      'ce-id': 'data-provider/v1/s1/00000000/0001',
      'ce-source': '/tachograph/data-provider',
      'ce-type': eventType('window.ready.v1'),
      'content-type': 'application/json',
    },
  });
  const ended = new Promise((resolve) => {
    call.once('error', resolve);
    call.once('close', resolve);
  });
  const sent = new Promise<void>((resolve) => call.once('finish', resolve));
  call.end(JSON.stringify({ vehicle: 'v1', session: 's1', window: 0, revision: 1 }));
  return { call, ended, sent };
}

/** Long enough that nothing but an abort can have ended it. */
const NOMINAL_MS = 10_000;

test.each(['inline', 'workers:1'])(
  'a burst of 10 s (%s) ends when its caller closes the connection',
  async (placement) => {
    const { port } = await start('cpuTime:10s@before', placement);
    const { call, ended, sent } = post(port);
    await sent;
    // Answered between two pieces of the burst, or beside it.
    expect((await fetch(url(port, '/healthz'))).status).toBe(200);
    call.destroy();
    await ended;
    await expect.poll(async () => (await bursts(port)).newest, { timeout: 30_000 }).toBe(1);
    const [row] = (await bursts(port)).rows;
    expect(row).toMatchObject({ nominal: NOMINAL_MS, aborted: true });
    expect(row?.cpuMs).toBeLessThan(NOMINAL_MS / 4);
  },
);

test('two bursts at once in one process: the second waits, both are executed', async () => {
  const { port } = await start('cpuTime:5ms@before delay:1ms@after');
  const calls = [post(port), post(port)];
  await Promise.all(calls.map(({ ended }) => ended));
  await expect.poll(async () => (await bursts(port)).newest).toBeGreaterThanOrEqual(2);
  const { rows } = await bursts(port);
  const cpu = rows.filter(({ kind }) => kind === 'cpuTime');
  expect(cpu).toHaveLength(2);
  expect(cpu.every(({ aborted }) => !aborted)).toBe(true);
});

test.each([
  ['cpuTime:50ms@before cpuTime:-1ms@after', 'column 29'],
  ['cpuTime:1e12@before', 'column'],
  ['cpuTime:50parsec@before', 'column'],
  ['cpuTime:pareto(alpha=1)@before', 'column'],
])(
  'a stage whose demand is %s does not start: exit code 2, the place of the fault',
  async (...of) => {
    const [demand, where] = of;
    const { code, log } = await start(demand);
    expect(code).toBe(2);
    expect(log).toContain(where);
    expect(log).not.toContain('.ts:');
  },
);
