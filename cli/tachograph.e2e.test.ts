import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { natsForTests } from '#eventing/testing/nats-for-tests.ts';
import { until } from '#infra/local/testing/processes.ts';
import { ROOT, startTachograph, tachograph } from './testing/run-tachograph.ts';

const nats = await natsForTests();
const run = test.skipIf(nats.binary === undefined);
const OVERLAY = 'infra/local/fixtures/pipeline';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tachograph-cli-'));
});
afterEach(async () => {
  await tachograph(['down'], env());
  rmSync(home, { recursive: true, force: true });
});

const env = (): Record<string, string> => ({ TACHOGRAPH_HOME: join(home, 'home') });
const data = (): string => join(home, 'data');
const up = (): string[] => ['up', '--overlay', OVERLAY, '--port', '0', '--data', data(), '--json'];

/** Processes that have this test's folder in command line or environment; only Linux can tell. */
function processesOfTest(): string[] {
  const pids = execFileSync('ps', ['-e', '-o', 'pid='], { encoding: 'utf8' }).split('\n');
  return pids
    .map((pid) => pid.trim())
    .filter((pid) => pid !== '' && pid !== String(process.pid))
    .filter((pid) => {
      try {
        const text = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`));
        return Buffer.concat(text).includes(home);
      } catch (error) {
        // It has ended meanwhile, or is a kernel's or another user's.
        if (error instanceof Error && 'code' in error) return false;
        throw error;
      }
    });
}

run('up, status, up again, down, down again do what they say', async () => {
  const first = await tachograph(up(), env());
  expect(first.code, first.err).toBe(0);
  const state = JSON.parse(first.out) as { gatewayUrl: string; pid: number };
  const status = await tachograph(['status', '--json'], env());
  expect(status.code).toBe(0);
  expect(JSON.parse(status.out)).toMatchObject({
    running: true,
    ready: true,
    pid: state.pid,
    services: [{ name: 'face' }, { name: 'worker' }],
  });
  const again = await tachograph(up(), env());
  expect(again.code).toBe(0);
  expect(JSON.parse(again.out)).toEqual(state);
  const other = await tachograph([...up(), '--data', join(home, 'other')], env());
  expect({ code: other.code, out: other.out }).toEqual({ code: 1, out: '' });
  expect(other.err).toContain(`runs already, with --data ${data()}`);
  const down = await tachograph(['down', '--json'], env());
  expect(JSON.parse(down.out)).toMatchObject({ stopped: true, pid: state.pid, killed: false });
  await expect(fetch(state.gatewayUrl)).rejects.toThrow('fetch failed');
  const nothing = await tachograph(['down', '--json'], env());
  expect(JSON.parse(nothing.out)).toEqual({ stopped: false });
  const stopped = await tachograph(['status', '--json'], env());
  expect(stopped.code).toBe(1);
  expect(JSON.parse(stopped.out)).toEqual({ running: false });
});

test('up whose data folder cannot be made exits 1 and names the reason', async () => {
  writeFileSync(join(home, 'file'), '');
  const { code, err } = await tachograph([...up(), '--data', join(home, 'file', 'data')], env());
  expect(code).toBe(1);
  expect(err).toContain('ENOTDIR');
});

run('up makes its folders for their owner alone', async () => {
  const { code, err } = await tachograph(up(), env());
  expect(code, err).toBe(0);
  for (const folder of [data(), join(home, 'home')]) {
    expect(statSync(folder).mode & 0o777, folder).toBe(0o700);
  }
});

run('up whose overlay is wrong exits 1, says file and line, and leaves nothing', async () => {
  const overlay = 'infra/local/fixtures/unresolved';
  const failed = await tachograph([...up(), '--overlay', overlay], env());
  expect(failed.code).toBe(1);
  expect(failed.out).toBe('');
  expect(failed.err).toMatch(/fixtures\/pipeline\/services\.yaml:\d+: there is no Secret/);
  expect(existsSync(join(home, 'home', 'local.json'))).toBe(false);
});

// A terminal's Ctrl-C reaches the whole process group; `kill` reaches the wrapper alone.
test.skipIf(nats.binary === undefined || process.platform !== 'linux').each([
  ['Ctrl-C', 'SIGINT', 'starting nats-server', 130],
  ['Ctrl-C', 'SIGINT', 'starting stages', 130],
  ['kill', 'SIGTERM', 'starting brokers and triggers', 143],
  ['kill -9', 'SIGKILL', 'starting stages', null],
] as const)(
  'up ended by %s (%s) at "%s" leaves no process and no lock',
  async (how, signal, at, code) => {
    const command = startTachograph(up(), env());
    await until(() => command.err().includes(at));
    const pid = command.child.pid ?? 0;
    process.kill(how === 'Ctrl-C' ? -pid : pid, signal);
    expect((await command.result).code).toBe(code);
    await until(() => processesOfTest().length === 0);
    expect(existsSync(join(data(), 'cluster.lock'))).toBe(false);
    expect(existsSync(join(home, 'home', 'local.json'))).toBe(false);
  },
);

test.skipIf(nats.binary === undefined || process.platform !== 'linux')(
  'a pipeline whose process was killed leaves no process, and the next up works',
  async () => {
    const { out } = await tachograph(up(), env());
    expect(processesOfTest().length).toBeGreaterThan(0);
    process.kill((JSON.parse(out) as { pid: number }).pid, 'SIGKILL');
    await until(() => processesOfTest().length === 0);
    expect((await tachograph(['status'], env())).code).toBe(1);
    expect((await tachograph(up(), env())).code).toBe(0);
  },
);

test('tachograph where nothing is installed says so and exits 1', async () => {
  mkdirSync(join(home, 'bin'));
  copyFileSync(join(ROOT, 'bin/tachograph.js'), join(home, 'bin/tachograph.js'));
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  const { code, out, err } = await startTachograph(['up'], {}, join(home, 'bin/tachograph.js'))
    .result;
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain('run "make setup" first');
  const doctor = await startTachograph(['doctor'], {}, join(home, 'bin/tachograph.js')).result;
  expect(doctor.code, doctor.err).toBe(1);
  expect(doctor.out).toMatch(/missing modules[^]+→ make setup/);
});

test('tachograph --version is that of the package', async () => {
  const { code, out } = await tachograph(['--version']);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect({ code, out }).toEqual({ code: 0, out: `${version}\n` });
});

test('tachograph whose reader goes away ends quietly', async () => {
  const command = startTachograph(['help'], env());
  command.child.stdout?.destroy();
  const { code, err } = await command.result;
  expect([0, 141]).toContain(code);
  expect(err).toBe('');
});

test('doctor --json says what is there and what is missing', async () => {
  const { code, out } = await tachograph(['doctor', '--json'], env());
  const { ok, checks } = JSON.parse(out) as {
    ok: boolean;
    checks: { name: string; ok: boolean; required: boolean; remedy: string }[];
  };
  expect(code).toBe(ok ? 0 : 1);
  expect(checks.find(({ name }) => name === 'node')).toMatchObject({ ok: true, required: true });
  for (const check of checks) expect(check.remedy === '').toBe(check.ok);
});

test('drive without a pipeline says how to start one and exits 1', async () => {
  const { code, out, err } = await tachograph(['drive', '--json'], env());
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain('start one with "tachograph up"');
});

test('up with a demand that cannot be meant exits 1 at once, says where the fault is', async () => {
  const { code, err } = await tachograph(
    [...up(), '--demand', 'export=cpuTime:-5ms@before'],
    env(),
  );
  expect(code).toBe(1);
  expect(err).toContain('column 9');
  expect(existsSync(data())).toBe(false);
});
