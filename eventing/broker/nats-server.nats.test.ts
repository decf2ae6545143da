import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#kernel/system/system-clock.ts';
import { eventually } from '../testing/eventually.ts';
import { natsForTests, startTestNats } from '../testing/nats-for-tests.ts';
import { startNatsServer } from './nats-server.ts';

const nats = await natsForTests();
const reason = nats.missing === undefined ? '' : ` (skipped: ${nats.missing})`;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const folder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'tachograph-server-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
};

describe.skipIf(nats.missing !== undefined)(`startNatsServer${reason}`, () => {
  test('listens on a free port of 127.0.0.1 and ends when asked', async () => {
    const { server, remove } = await startTestNats(nats);
    onTestFinished(remove);
    expect(server.url).toBe(`nats://127.0.0.1:${server.port}`);
    expect(isAlive(server.pid)).toBe(true);
    await server.stop();
    await server.stop();
    expect(await server.exited).toMatchObject({ asked: true });
    expect(isAlive(server.pid)).toBe(false);
  });

  test('exited says when the server ended unasked', async () => {
    const { server, remove } = await startTestNats(nats);
    onTestFinished(remove);
    process.kill(server.pid, 'SIGKILL');
    expect(await server.exited).toEqual({ asked: false, code: 128 });
  });

  test('a port in use is NATS_START_FAILED with the log that tells why', async () => {
    const { server, remove } = await startTestNats(nats);
    onTestFinished(remove);
    const storeDir = await folder();
    const second = startNatsServer({
      binary: nats.binary ?? '',
      storeDir,
      port: server.port,
      clock: systemClock,
    });
    await expect(second).rejects.toMatchObject({ code: 'NATS_START_FAILED' });
    expect(await readFile(join(storeDir, 'nats-server.log'), 'utf8')).toMatch(/in use/);
  });

  test('a binary that is none is NATS_START_FAILED', async () => {
    const options = { binary: '/nonexistent', storeDir: await folder(), clock: systemClock };
    await expect(startNatsServer(options)).rejects.toMatchObject({ code: 'NATS_START_FAILED' });
  });

  test('the server ends with its parent, even one that was killed', async () => {
    const storeDir = await folder();
    const script = `
      const { startNatsServer } = await import(process.argv[1]);
      const { systemClock } = await import(process.argv[2]);
      const [binary, storeDir] = process.argv.slice(3);
      const server = await startNatsServer({ binary, storeDir, clock: systemClock });
      process.stdout.write(String(server.pid));
      await new Promise(() => {});`;
    const modules = [
      new URL('nats-server.ts', import.meta.url).href,
      import.meta.resolve('#kernel/system/system-clock.ts'),
    ];
    const parent = spawn(
      process.execPath,
      ['--input-type=module', '-e', script, ...modules, nats.binary ?? '', storeDir],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const pid = await new Promise<number>((resolve) => {
      parent.stdout.once('data', (text: Buffer) => resolve(Number(text.toString())));
    });
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await eventually(() => !isAlive(pid));
  });
});
