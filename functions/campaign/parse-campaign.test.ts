import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_FAULTS } from './campaign-reader.ts';
import { parseCampaign } from './parse-campaign.ts';

const SHA = 'a'.repeat(64);
const parse = (text: string) => parseCampaign(new TextEncoder().encode(text));

/** `line:column path` of every fault. */
const places = (text: string) =>
  parse(text).reader.faults.map(({ line, column, path }) => `${line}:${column} ${path}`);
const messages = (text: string) => parse(text).reader.faults.map(({ message }) => message);

test('parseCampaign fills every default of a homologation campaign', () => {
  const { id, definition, reader } = parse(`id: c1\ndecoders: { can0: { sha256: ${SHA} } }`);
  expect(reader.faults).toEqual([]);
  expect(id).toBe('c1');
  expect(definition).toEqual({
    name: 'c1',
    description: '',
    kind: 'homologation',
    target: { vehicles: 'all' },
    window: { startAt: null, endAt: null },
    decoders: { can0: SHA },
    signals: [],
    rawFrames: 'all',
    upload: { everyMs: 10_000, maxBatchBytes: 1_048_576 },
    cache: { maxBytes: 67_108_864, whenFull: 'stopRecording' },
    processing: {
      windowMs: 10_000,
      graceMs: 30_000,
      abandonAfterMs: 600_000,
      resample: { rasterMs: 100, method: 'hold', maxHoldMs: 500 },
    },
    export: { formats: ['parquet', 'csv'], values: 'physical' },
  });
});

test('parseCampaign + kind fleet takes the defaults of a fleet', () => {
  const { definition } = parse('id: c1\nkind: fleet');
  expect(definition).toMatchObject({
    rawFrames: 'none',
    upload: { everyMs: 60_000 },
    cache: { whenFull: 'dropOldest' },
    processing: { windowMs: 60_000 },
  });
});

test('parseCampaign + upload period gives the window the same length', () => {
  expect(parse('id: c\nupload: { everyMs: 1000 }').definition.processing.windowMs).toBe(1_000);
});

const FULL = {
  id: 'c1',
  name: 'Name',
  description: 'Text',
  kind: 'fleet',
  target: { vehicles: ['v2', 'v1', 'v2'] },
  window: { startAt: '2026-11-30T22:43:01Z', endAt: '2026-12-30T22:43:01.5+01:00' },
  decoders: { can0: { sha256: SHA }, can1: { sha256: SHA } },
  signals: [
    { name: 'M.A', bus: 'can0', record: 'all' },
    { name: 'M.B', bus: 'can0', record: { all: true } },
    { name: 'M.C', bus: 'can1', record: { everyMs: 20 } },
    { name: 'M.D', bus: 'can1', record: { onChange: { deadband: 0.5 } } },
    { name: 'M.E', bus: 'can1', record: { onChange: {} } },
    { name: 'M.F', bus: 'can1' },
  ],
  rawFrames: [{ bus: 'can0', id: 536_870_911 }],
  upload: { everyMs: 1000, maxBatchBytes: 1024 },
  cache: { maxBytes: 1_048_576, whenFull: 'dropNewest' },
  processing: {
    windowMs: 2000,
    graceMs: 0,
    abandonAfterMs: 1000,
    resample: { rasterMs: 1, method: 'linear', maxHoldMs: 0 },
  },
  export: { formats: ['csv'], values: 'raw' },
};

test('parseCampaign + everything given, as JSON, keeps it', () => {
  const { definition, reader } = parse(JSON.stringify(FULL));
  expect(reader.faults).toEqual([]);
  const { id: _, ...given } = FULL;
  expect(definition).toEqual({
    ...given,
    target: { vehicles: ['v1', 'v2'] },
    decoders: { can0: SHA, can1: SHA },
    signals: [
      { name: 'M.A', bus: 'can0', record: { all: true } },
      { name: 'M.B', bus: 'can0', record: { all: true } },
      { name: 'M.C', bus: 'can1', record: { everyMs: 20 } },
      { name: 'M.D', bus: 'can1', record: { onChange: { deadband: 0.5 } } },
      { name: 'M.E', bus: 'can1', record: { onChange: { deadband: 0 } } },
      { name: 'M.F', bus: 'can1', record: { all: true } },
    ],
  });
});

test('parseCampaign + one decoder gives the signals its bus; with two it must be named', () => {
  const one = `id: c\nsignals: [{ name: M.A }]\ndecoders: { can7: { sha256: ${SHA} } }`;
  expect(parse(one).definition.signals[0]?.bus).toBe('can7');
  const two = `id: c\nsignals: [{ name: M.A }]\ndecoders: { a: { sha256: ${SHA} }, b: { sha256: ${SHA} } }`;
  expect(places(two)).toEqual(['2:11 signals[0].bus']);
});

test('parseCampaign + unknown keys at any depth reports each with its place', () => {
  const text =
    'id: c\ncolour: red\nupload:\n  everyMs: 1000\n  evryMs: 5\nsignals:\n  - nme: M.S\n';
  expect(places(text)).toEqual(
    expect.arrayContaining(['2:1 colour', '5:3 upload.evryMs', '7:5 signals[0].nme']),
  );
  expect(messages(text)[0]).toContain('known here: id, name, description');
});

test.each([
  ['', '', 'The campaign is empty'],
  ['# nothing', '', 'The campaign is empty'],
  ['- a', '1:1 ', 'The campaign is a list; it must be a map'],
  ['just text', '1:1 ', 'it must be a map'],
  ['name: x', '1:1 id', 'id is missing; it must be 1 to 64 of letters'],
  ['id: a/b', '1:1 id', 'id is "a/b"; it must be 1 to 64 of letters'],
  ['id: ..', '1:1 id', 'it must be'],
  ['id:', '1:1 id', 'id is null'],
  [`id: ${'x'.repeat(65)}`, '1:1 id', 'a text of 65 characters'],
  ['id: c\nid: d', '2:1 id', 'id is given twice'],
  ['id: c\nkind: truck', '2:1 kind', '"truck"; it must be one of homologation, fleet'],
  ['id: c\nupload: fast', '2:1 upload', 'upload is "fast"; it must be a map'],
  [
    'id: c\nupload:\n  everyMs: 99',
    '3:3 upload.everyMs',
    '99; it must be a whole number from 100 to 86400000 ms',
  ],
  ['id: c\nupload: { everyMs: 86400001 }', '2:11 upload.everyMs', '86400001'],
  ['id: c\nupload: { everyMs: 1e3.5 }', '2:11 upload.everyMs', '"1e3.5"'],
  ['id: c\nupload: { everyMs: "1000" }', '2:11 upload.everyMs', 'upload.everyMs is "1000"'],
  [
    'id: c\nupload: { maxBatchBytes: 1048577 }',
    '2:11 upload.maxBatchBytes',
    'from 1024 to 1048576',
  ],
  ['id: c\nupload: { everyMs: [1] }', '2:11 upload.everyMs', 'is a list'],
  ['id: c\ndescription: { a: 1 }', '2:1 description', 'is a map; it must be a text'],
  [`id: c\nname: ${'n'.repeat(101)}`, '2:1 name', 'at most 100 characters'],
  ['id: c\ntarget: { vehicles: veh-1 }', '2:11 target.vehicles', '"all" or a list'],
  ['id: c\ntarget: { vehicles: [] }', '2:11 target.vehicles', 'is empty; use "all"'],
  [
    'id: c\ntarget:\n  vehicles:\n    - v1\n    - v/2',
    '5:7 target.vehicles[1]',
    'the name of a vehicle',
  ],
  ['id: c\nwindow: { startAt: 2026-11-30 }', '2:11 window.startAt', 'a time with zone'],
  ['id: c\nwindow: { endAt: 2026-13-30T00:00:00Z }', '2:11 window.endAt', 'a time with zone'],
  ['id: c\ndecoders: { can0: { sha256: 12AB } }', '2:21 decoders.can0.sha256', '64 lower-case hex'],
  ['id: c\ndecoders: { can0: {} }', '2:13 decoders.can0.sha256', '64 lower-case hex'],
  [
    'id: c\ndecoders: { can0: { dbc: x.dbc } }',
    '2:21 decoders.can0.dbc',
    'POST the file to /v1/decoders',
  ],
  [`id: c\ndecoders: { "a b": { sha256: ${SHA} } }`, '2:13 decoders.a b', 'not the name of a bus'],
  [`id: c\ndecoders: { "a[b": { sha256: ${SHA} } }`, '2:13 decoders.a[b', 'not the name of a bus'],
  ['id: c\nsignals: M.S', '2:1 signals', 'must be a list'],
  ['id: c\nsignals: [M.S]', '2:11 signals[0]', 'must be a map'],
  ['id: c\nsignals: [{ name: Speed, bus: a }]', '2:13 signals[0].name', '"Message.Signal"'],
  [
    'id: c\nsignals: [{ name: M.S, bus: a, record: often }]',
    '2:32 signals[0].record',
    '{ everyMs: NUMBER }',
  ],
  [
    'id: c\nsignals: [{ name: M.S, bus: a, record: {} }]',
    '2:32 signals[0].record',
    '{ everyMs: NUMBER }',
  ],
  [
    'id: c\nsignals: [{ name: M.S, bus: a, record: { all: false } }]',
    '2:42 signals[0].record.all',
    'must be true',
  ],
  [
    'id: c\nsignals: [{ name: M.S, bus: a, record: { everyMs: 0 } }]',
    '2:42 signals[0].record.everyMs',
    'from 1 to',
  ],
  [
    'id: c\nsignals: [{ name: M.S, bus: a, record: { everyMs: 5, all: true } }]',
    '2:32 signals[0].record',
    'only one',
  ],
  [
    'id: c\nsignals: [{ name: M.S, bus: a, record: { onChange: { deadband: -1 } } }]',
    '2:54 signals[0].record.onChange.deadband',
    'from 0 to',
  ],
  ['id: c\nrawFrames: some', '2:1 rawFrames', 'all, none or a list'],
  [
    'id: c\nrawFrames: [{ bus: can0, id: 536870912 }]',
    '2:26 rawFrames[0].id',
    'from 0 to 536870911',
  ],
  ['id: c\nrawFrames: [{ id: 1 }]', '2:13 rawFrames[0].bus', 'is missing'],
  ['id: c\nprocessing: { windowMs: 99 }', '2:15 processing.windowMs', 'from 100 to'],
  [
    'id: c\nprocessing: { resample: { rasterMs: 0 } }',
    '2:27 processing.resample.rasterMs',
    'from 1 to 3600000 ms',
  ],
  [
    'id: c\nprocessing: { resample: { method: cubic } }',
    '2:27 processing.resample.method',
    'one of hold, linear',
  ],
  ['id: c\nexport: { formats: [mdf4] }', '2:21 export.formats[0]', 'parquet or csv'],
  ['id: c\nexport: { formats: [] }', '2:11 export.formats', 'is empty'],
  ['id: c\nupload: { everyMs: 1000', '2:24 ', 'end with a }'],
  ['id: c\n---\nid: d', '2:1 ', 'document'],
])('parseCampaign + %j has a fault at "%s"', (text, place, message) => {
  const all = parse(text).reader.faults;
  expect(all.map((fault) => fault.message).join('\n')).toContain(message);
  if (place === '') expect(all).toHaveLength(1);
  else expect(places(text)).toContain(place);
});

test('parseCampaign + bytes that are not UTF-8 has a fault', () => {
  const { reader } = parseCampaign(Uint8Array.of(0x69, 0x64, 0x3a, 0xff));
  expect(reader.faults).toEqual([
    { path: '', message: 'The text is not UTF-8', line: null, column: null },
  ]);
});

test.each([
  ['an alias', 'id: c\nname: *s', 2, 7, 'anchors and aliases are not accepted'],
  ['an anchor', 'id: c\nupload: { everyMs: &t 1000 }', 2, 20, 'anchors and aliases'],
  ['an anchor behind a text of lines', 'id: "a\n b"\nx: &t 1', 3, 4, 'anchors and aliases'],
  ['a tag', 'id: !x c', 1, 5, 'tags are not accepted'],
  ['a directive', '%YAML 1.2\n---\nid: c', 1, 1, 'directives are not accepted'],
  ['32 brackets in a block', '['.repeat(32) + ']'.repeat(32), 1, 32, 'more than 32 levels'],
  ['33 lists in a line', '- '.repeat(34), 1, 65, 'more than 32 levels'],
  [
    '33 blocks',
    Array.from({ length: 33 }, (_, n) => `${' '.repeat(n)}a:`).join('\n'),
    33,
    33,
    'more than 32 levels',
  ],
  ['commas alone', '[1,,', 1, 4, 'without a value'],
  ['values side by side', '"a""b"', 1, 4, 'two values'],
  ['a bracket too many', 'a: 1\n]', 2, 1, 'closing bracket'],
])('parseCampaign + %s has one fault with its place', (_, text, line, column, message) => {
  const { reader } = parse(text);
  expect(reader.count).toBe(1);
  expect(reader.faults[0]).toMatchObject({ path: '', line, column });
  expect(reader.faults[0]?.message).toContain(message);
});

test('parseCampaign + 32 levels, "*" and "&" in texts are read', () => {
  const deep = '['.repeat(31) + ']'.repeat(31);
  expect(messages(`id: c\nx: ${deep}`)[0]).toContain('x is not known');
  const { definition, reader } = parse('id: c\nname: "*a"\ndescription: a & b *c # &x *y\n');
  expect(reader.faults).toEqual([]);
  expect(definition).toMatchObject({ name: '*a', description: 'a & b *c' });
});

test('parseCampaign + 20,000 chained aliases stops at the first', () => {
  const chain = Array.from({ length: 20_000 }, (_, n) => `- &a${n} [*a${n - 1}]\n`).join('');
  expect(parse(`id: c\nsignals:\n${chain}`).reader.count).toBe(1);
});

test('parseCampaign + as many words as the longest campaign is read, more are not', () => {
  const rule = 'record: { onChange: { deadband: 0.5 } }';
  const list = (count: number, item: string) => `[${Array(count).fill(item).join(',')}]`;
  const longest =
    `id: c\ntarget: { vehicles: ${list(10_000, 'v')} }\n` +
    `rawFrames: ${list(10_000, '{ bus: a, id: 1 }')}\n` +
    `signals: ${list(10_000, `{ name: M.S, bus: a, ${rule} }`)}`;
  expect(parse(longest).reader.faults).toEqual([]);
  expect(messages(list(200_000, '1'))).not.toContain('words and signs');
  expect(messages(list(200_001, '1'))[0]).toContain('more than 400000 words and signs');
});

test('parseCampaign + 10,001 signals is refused, 10,000 are not', () => {
  const list = (count: number) =>
    `id: c\nsignals:\n${Array.from({ length: count }, (_, n) => `  - { name: M.S${n}, bus: a }\n`).join('')}`;
  expect(parse(list(10_000)).reader.count).toBe(0);
  expect(messages(list(10_001))).toEqual(['signals has 10001 entries; at most 10000 are allowed']);
});

test('parseCampaign + more faults than are shown counts all', () => {
  const text = `id: c\n${Array.from({ length: 250 }, (_, n) => `k${n}: 1\n`).join('')}`;
  const { reader } = parse(text);
  expect(reader.faults).toHaveLength(MAX_FAULTS);
  expect(reader.count).toBe(250);
});

test('parseCampaign + a nesting bomb has a fault', () => {
  expect(parse('['.repeat(200_000)).reader.count).toBeGreaterThan(0);
});

test('parseCampaign + __proto__ as a key is an unknown key', () => {
  expect(messages('{"id":"c","__proto__":{"kind":"fleet"}}')[0]).toContain(
    '__proto__ is not known',
  );
});

test('parseCampaign never throws, whatever the text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' })), (text) => {
      parse(text);
      parse(`id: c\nsignals: ${text}`);
    }),
  );
});
