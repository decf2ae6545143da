import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { batchId } from '#kernel/core/ids.ts';
import type { Fixture } from './testing/stage-fixture.ts';
import { putCampaign, startStage, TOKEN } from './testing/stage-fixture.ts';

/** The documented clients against a listening server. */
const run = promisify(execFile);
const clients = new URL('../../examples/clients/', import.meta.url).pathname;
const batch = `${clients}batch.json`;

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

let stage: Fixture;
let url = '';

beforeAll(async () => {
  stage = await startStage();
  await putCampaign(stage.store, 3, 'running');
  url = await stage.app.listen();
});

afterAll(async () => {
  await stage.app.close();
});

const CLIENTS: readonly (readonly [string, string, readonly string[]])[] = [
  ['upload.sh', 'curl', ['sh', `${clients}upload.sh`, '', 'veh-1', batch]],
  ['upload.py', 'python3', ['python3', `${clients}upload.py`, '', 'veh-1', batch]],
];

/** The programs answer with what the server said; the empty argument is the place of the URL. */
async function upload(command: readonly string[], token: string): Promise<unknown> {
  const [program = '', ...args] = command.map((word) => (word === '' ? url : word));
  const env = { PATH: process.env['PATH'] ?? '', TOKEN: token };
  const { stdout } = await run(program, args, { env, timeout: 30_000 });
  return JSON.parse(stdout);
}

for (const [name, needs, command] of CLIENTS) {
  // In CI both are there; elsewhere the skip names what is missing.
  const runs = test.skipIf(!has(needs) && process.env['CI'] === undefined);
  runs(`${name} (needs ${needs}) uploads the documented batch, again and again`, async () => {
    await upload(command, TOKEN);
    const { seq } = JSON.parse(await readFile(batch, 'utf8')) as { seq: number };
    const id = batchId('veh-1', '2026-11-30-a', seq);
    const receipt = await stage.store.get('receipts', id);
    expect(receipt).toMatchObject({ frames: 3, campaignVersion: 3, recordedByVehicle: 3 });
    expect(await upload(command, TOKEN)).toEqual({ duplicate: true, receipt });
  });

  runs(`${name} (needs ${needs}) fails at once with a token that is not valid`, async () => {
    await expect(upload(command, 'veh-1.wrong')).rejects.toThrow('Command failed');
    expect(stage.logged.at(-1)?.fields['code']).toBe('TOKEN_UNKNOWN');
  });
}
