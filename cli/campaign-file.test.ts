import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { loadCampaignFile } from './campaign-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'tachograph-campaign-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'a.dbc'), 'AAA');
writeFileSync(join(folder, 'b c.dbc'), 'BBB');

async function load(text: string) {
  const path = join(folder, 'campaign.yaml');
  writeFileSync(path, text);
  const { text: sent, decoders } = await loadCampaignFile(path);
  const read = decoders.map(
    ({ bus, name, bytes }) => `${bus} ${name} ${Buffer.from(bytes).toString()}`,
  );
  return { sent, read };
}

test.each([
  [
    'flow style',
    'id: c\ndecoders: { can0: { dbc: a.dbc }, can1: { dbc: "./b c.dbc" } } # note\nname: x\n',
  ],
  [
    'block style',
    'id: c\ndecoders:\n  can0:\n    # the car\n    dbc: a.dbc\n  can1:\n    dbc: "./b c.dbc"\nname: x\n',
  ],
  ['JSON', '{"id":"c","decoders":{"can0":{"dbc":"a.dbc"},"can1":{"dbc":"./b c.dbc"}},"name":"x"}'],
])('loadCampaignFile + %s replaces paths by hashes and keeps the lines', async (_, text) => {
  const { sent, read } = await load(text);
  expect(read).toEqual(['can0 a.dbc AAA', 'can1 b c.dbc BBB']);
  expect(parse(sent)).toEqual({
    id: 'c',
    name: 'x',
    decoders: { can0: { sha256: sha256Hex('AAA') }, can1: { sha256: sha256Hex('BBB') } },
  });
  expect(sent.split('\n')).toHaveLength(text.split('\n').length);
});

test.each([
  'id: c\ndecoders: { can0: { sha256: abc } }',
  'id: c\ndecoders: { can0: a.dbc }',
  'id: c\ndecoders: { can0: { dbc: [a.dbc] } }',
  'decoders: [a.dbc]',
  'id: c',
  'just text',
  '{ broken',
  '',
])('loadCampaignFile + %j sends it as it is, for the service to judge', async (text) => {
  expect(await load(text)).toEqual({ sent: text, read: [] });
});

test('loadCampaignFile + a DBC that is not there names both files', async () => {
  await expect(load('decoders: { can0: { dbc: none.dbc } }')).rejects.toMatchObject({
    code: 'CAMPAIGN_FILE_INVALID',
    message: expect.stringMatching(
      /campaign\.yaml is not usable: .*none\.dbc cannot be read \(ENOENT\)/,
    ),
  });
});

test('loadCampaignFile + a campaign that is not there says so', async () => {
  await expect(loadCampaignFile(join(folder, 'none.yaml'))).rejects.toMatchObject({
    code: 'CAMPAIGN_FILE_INVALID',
  });
});

test('loadCampaignFile + the example takes the DBC of the drive', async () => {
  const { text, decoders } = await loadCampaignFile('examples/campaigns/demo.yaml');
  const dbc = readFileSync('examples/drive/toyota_2017.dbc');
  expect(decoders).toEqual([{ bus: 'can0', name: 'toyota_2017.dbc', bytes: dbc }]);
  expect(text).toContain(`can0: { "sha256": "${sha256Hex(dbc)}" }`);
});
