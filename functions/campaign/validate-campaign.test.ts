import { expect, test } from 'vitest';
import { MAX_CELLS } from '#kernel/columns/block-format.ts';
import { parseCampaign } from './parse-campaign.ts';
import { testDatabase } from './testing/dbc-text.ts';
import { validateCampaign } from './validate-campaign.ts';

const SHA = 'a'.repeat(64);
const NOW_MS = Date.parse('2026-11-30T00:00:00Z');
const databases = new Map([['can0', testDatabase()]]);

function faultsOf(text: string, known = databases): string[] {
  const { definition, reader } = parseCampaign(
    new TextEncoder().encode(`id: c\ndecoders: { can0: { sha256: ${SHA} } }\n${text}`),
  );
  expect(reader.faults).toEqual([]);
  const faults: string[] = [];
  validateCampaign(definition, known, NOW_MS, (path, message) =>
    faults.push(message.startsWith(path) ? message : `${path}: ${message}`),
  );
  return faults;
}

test.each([
  ['nothing more', ''],
  [
    'signals at and above the cycle time',
    'signals: [{ name: Motion.Speed, record: { everyMs: 100 } }]',
  ],
  [
    'a fast rate without a known cycle',
    'signals: [{ name: Lamps.Blinker, record: { everyMs: 1 } }]',
  ],
  ['a window of several batches', 'upload: { everyMs: 500 }\nprocessing: { windowMs: 2000 }'],
  ['a batch of several windows', 'upload: { everyMs: 2000 }\nprocessing: { windowMs: 500 }'],
  ['1,000 batches a window', 'upload: { everyMs: 100 }\nprocessing: { windowMs: 100000 }'],
  [
    'a raster as long as the window',
    'upload: { everyMs: 1000 }\nprocessing: { resample: { rasterMs: 1000 } }',
  ],
  ['an end to come', 'window: { startAt: 2026-12-01T00:00:00Z, endAt: 2026-12-02T00:00:00Z }'],
  [
    'a hold of 100 batches',
    'upload: { everyMs: 100 }\nprocessing: { resample: { maxHoldMs: 10000 } }',
  ],
])('validateCampaign + %s finds no fault', (_, text) => {
  expect(faultsOf(text)).toEqual([]);
});

test.each([
  [
    'signals: [{ name: Motion.Sped }]',
    'signals[0].name: The DBC of can0 has no signal Motion.Sped; did you mean Motion.Speed?',
  ],
  [
    'signals: [{ name: Xyzzy.Frobnicate }]',
    'signals[0].name: The DBC of can0 has no signal Xyzzy.Frobnicate',
  ],
  [
    'signals: [{ name: Motion.Speed, bus: can9 }]',
    'signals[0].bus: The bus can9 of Motion.Speed has no decoder; these have one: can0',
  ],
  [
    'signals: [{ name: Motion.Speed, record: { everyMs: 99 } }]',
    'signals[0].record.everyMs: Motion.Speed every 99 ms is faster than its message, ' +
      'sent every 100 ms; use 100 or more, or all',
  ],
  [
    'signals: [{ name: Motion.Speed }, { name: Motion.Speed }]',
    'signals[1]: Motion.Speed on can0 is listed twice',
  ],
  [
    'upload: { everyMs: 1000 }\nprocessing: { windowMs: 2500 }',
    'processing.windowMs = 2500 does not fit upload.everyMs = 1000; use a multiple or a divisor of it, like 3000',
  ],
  [
    'upload: { everyMs: 100 }\nprocessing: { windowMs: 100100 }',
    'processing.windowMs = 100100 and upload.everyMs = 100 are more than 1000 times apart',
  ],
  [
    'processing: { graceMs: 5000, abandonAfterMs: 4999 }',
    'processing.abandonAfterMs = 4999 must be at least processing.graceMs = 5000',
  ],
  [
    'upload: { everyMs: 1000 }\nprocessing: { resample: { rasterMs: 1001 } }',
    'processing.resample.rasterMs = 1001 must be at most the window of 1000 ms',
  ],
  [
    'upload: { everyMs: 100 }\nprocessing: { resample: { maxHoldMs: 10001 } }',
    'processing.resample.maxHoldMs = 10001 reads back more than 100 batches (10000 ms); use less',
  ],
  [
    'upload: { everyMs: 86400000 }\nprocessing: { windowMs: 86400000, resample: { rasterMs: 1 } }',
    `processing.windowMs: A window would hold 345600000 raster cells, ` +
      `at most ${MAX_CELLS} fit; use a shorter window or a wider raster`,
  ],
  [
    'window: { endAt: 2026-11-30T00:00:00Z }',
    'window.endAt = 2026-11-30T00:00:00Z is past; use a time after 2026-11-30T00:00:00.000Z',
  ],
  [
    'window: { startAt: 2026-12-02T00:00:00Z, endAt: 2026-12-02T00:00:00Z }',
    'window.endAt = 2026-12-02T00:00:00Z must be after window.startAt = 2026-12-02T00:00:00Z',
  ],
])('validateCampaign + %s says so', (text, fault) => {
  expect(faultsOf(text)).toEqual([fault]);
});

test('validateCampaign + a decoder that is not stored reports that alone', () => {
  expect(faultsOf('signals: [{ name: Motion.Speed }]', new Map())).toEqual([
    `decoders.can0: No decoder with the SHA-256 ${SHA} is stored; POST the DBC to /v1/decoders first`,
  ]);
});

test.each(['rawFrames: none', 'rawFrames: []'])(
  'validateCampaign + %s alone records nothing',
  (raw) => {
    const { definition } = parseCampaign(new TextEncoder().encode(`id: c\n${raw}`));
    const faults: string[] = [];
    validateCampaign(definition, new Map(), NOW_MS, (_, message) => faults.push(message));
    expect(faults).toEqual(['The campaign records nothing; give decoders, or rawFrames']);
  },
);

test('validateCampaign + many unknown signals suggests names for the first 20 only', () => {
  const signals = Array.from({ length: 30 }, (_, n) => `  - { name: Motion.Spee${n} }\n`).join('');
  const faults = faultsOf(`signals:\n${signals}`);
  expect(faults).toHaveLength(30);
  expect(faults.filter((fault) => fault.includes('did you mean'))).toHaveLength(20);
});
