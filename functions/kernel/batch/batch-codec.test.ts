import { encode } from 'cborg';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TachographError } from '../core/errors.ts';
import { decodeBatch, encodeBatch } from './batch-codec.ts';
import type { Batch, FrameGroup, FrameKind } from './batch.ts';

const CLOCK = { monotonicUs: 0, wallUs: 1_780_000_000_000_000, source: 'ntp' } as const;

const batchOf = (groups: readonly FrameGroup[], changes: Partial<Batch> = {}): Batch => ({
  vehicle: 'v1',
  session: 's1',
  seq: 3,
  campaign: 'c1',
  campaignVersion: 1,
  fromUs: 1_000,
  untilUs: 2_000,
  clock: CLOCK,
  end: false,
  counts: { seen: 9, matched: 9, recorded: 9, dropped: {} },
  groups,
  ...changes,
});

const classicLength = fc.nat({ max: 8 });
const fdLength = fc.constantFrom(0, 1, 7, 8, 12, 16, 20, 24, 32, 48, 64);

const groupArbitrary = (bus: string): fc.Arbitrary<FrameGroup> =>
  fc
    .record({
      kind: fc.constantFrom<FrameKind>('data', 'fd', 'remote', 'error'),
      extended: fc.boolean(),
      id: fc.nat({ max: 0x7ff }),
      seed: fc.infiniteStream(fc.nat({ max: 255 })),
      timeUs: fc.array(fc.integer({ min: 1_000, max: 1_999 }), { minLength: 1, maxLength: 20 }),
    })
    .chain(({ kind, extended, id, seed, timeUs }) => {
      const withData = kind === 'data' || kind === 'fd';
      const length = kind === 'fd' ? fdLength : classicLength;
      const rows = { minLength: timeUs.length, maxLength: timeUs.length };
      return fc.array(withData ? length : fc.constant(0), rows).map((lengths) => ({
        bus,
        kind,
        extended,
        id: kind === 'error' ? 0 : id,
        timeUs: Float64Array.from(timeUs),
        lengths: Uint8Array.from(lengths),
        payload: Uint8Array.from(
          { length: lengths.reduce((sum, each) => sum + each, 0) },
          () => seed.next().value ?? 0,
        ),
      }));
    });

test.each(['cbor', 'json'] as const)(
  'encodeBatch as %s and decodeBatch give the same batch',
  (format) => {
    const groups = fc.tuple(groupArbitrary('can0'), groupArbitrary('can1'));
    fc.assert(
      fc.property(groups, fc.boolean(), (both, end) => {
        const batch = batchOf(both, { end });
        const body = encodeBatch(batch, format);
        expect(decodeBatch(body, `application/${format}`)).toEqual(batch);
      }),
    );
  },
);

test('encodeBatch puts equal lengths as one number and payloads in columns', () => {
  const group: FrameGroup = {
    bus: 'can0',
    id: 1,
    extended: false,
    kind: 'data',
    timeUs: Float64Array.of(1_005, 1_003),
    lengths: Uint8Array.of(2, 2),
    payload: Uint8Array.of(1, 2, 3, 4),
  };
  const { kind, id, extended, bus } = group;
  const expected = {
    schema: 'tachograph.batch/1',
    ...batchOf([]),
    groups: [
      { bus, id, extended, kind, dtUs: [5, -2], lengths: 2, payload: Uint8Array.of(1, 3, 2, 4) },
    ],
  };
  const body = encodeBatch(batchOf([group]), 'cbor');
  expect(decodeBatch(encode(expected), 'application/cbor')).toEqual(batchOf([group]));
  expect(body).toHaveLength(encode(expected).length);
});

test.each([
  ['application/cbor', 'cbor'],
  ['Application/CBOR', 'cbor'],
  ['application/json; charset=utf-8', 'json'],
] as const)('decodeBatch takes the content type %s', (contentType, format) => {
  expect(decodeBatch(encodeBatch(batchOf([]), format), contentType).seq).toBe(3);
});

test.each(['', 'text/plain', 'application/cloudevents+json'])(
  'decodeBatch refuses the content type "%s"',
  (contentType) => {
    expect(() => decodeBatch(encodeBatch(batchOf([]), 'json'), contentType)).toThrow(
      expect.objectContaining({ code: 'BODY_TYPE_UNKNOWN' }),
    );
  },
);

type Document = Record<string, unknown>;

const plainGroup = {
  bus: 'can0',
  id: 1,
  extended: false,
  kind: 'data',
  dtUs: [0, 1],
  lengths: 2,
  payload: Uint8Array.of(1, 3, 2, 4),
};
const { clock, counts } = batchOf([]);
const document: Document = {
  schema: 'tachograph.batch/1',
  ...batchOf([]),
  groups: [plainGroup],
};

const group = (changes: Document): Document => ({ groups: [{ ...plainGroup, ...changes }] });
const without = (name: string): Document => {
  const { [name as 'lengths']: _, ...rest } = plainGroup;
  return { groups: [rest] };
};
const remote = { bus: 'can0', id: 1, extended: false, kind: 'remote', dtUs: [0] };

const REFUSED: readonly (readonly [Document, string])[] = [
  [{ schema: undefined }, 'null is not known; this server reads "tachograph.batch/1"'],
  [{ schema: 'tachograph.batch/2' }, '"tachograph.batch/2" is not known'],
  [{ colour: 'red' }, 'colour = "red" is not valid; it must be left out'],
  [{ ['a\u0000'.repeat(90)]: 1 }, 'a text of 180 characters'],
  [{ vehicle: 'a/b' }, 'vehicle = "a/b"'],
  [{ vehicle: '..' }, 'vehicle = ".."'],
  [{ session: 's'.repeat(65) }, 'session = "sss'],
  [{ session: 5 }, 'session = 5'],
  [{ campaign: '' }, 'campaign = ""'],
  [
    { campaignVersion: 0 },
    'campaignVersion = 0 is not valid; it must be an integer from 1 to 999999',
  ],
  [{ seq: -1 }, 'seq = -1'],
  [{ seq: 100_000 }, 'seq = 100000'],
  [{ seq: 1.5 }, 'seq = 1.5'],
  [{ seq: '1' }, 'seq = "1"'],
  [{ seq: null }, 'seq = null'],
  [{ seq: undefined }, 'seq = missing'],
  [{ fromUs: -1 }, 'fromUs = -1'],
  [{ fromUs: 315_360_000_000_001 }, 'fromUs = 315360000000001'],
  [
    { untilUs: 1_000 },
    'untilUs = 1000 is not valid; it must be an integer from 1001 to 3600001000',
  ],
  [{ untilUs: 3_600_001_001 }, 'untilUs = 3600001001'],
  [{ end: 1 }, 'end = 1 is not valid; it must be true or false'],
  [{ clock: { ...clock, wallUs: -1 } }, 'clock.wallUs = -1'],
  [{ clock: { ...clock, wallUs: 8_640_000_000_000_001 } }, 'clock.wallUs = 8640000000000001'],
  [
    { clock: { ...clock, source: 'sun' } },
    'clock.source = "sun" is not valid; it must be one of gnss',
  ],
  [{ clock: [] }, 'clock = an array of 0'],
  [{ counts: { ...counts, seen: 1e13 } }, 'counts.seen = 10000000000000'],
  [{ counts: { ...counts, dropped: { bufferFull: -1 } } }, 'counts.dropped.bufferFull = -1'],
  [{ counts: { ...counts, dropped: { 'a b': 1 } } }, 'counts.dropped = "a b"'],
  [{ counts: { ...counts, dropped: { constructor: 1 } } }, 'counts.dropped = "constructor"'],
  [
    {
      counts: {
        ...counts,
        dropped: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [i, 1])),
      },
    },
    'at most 32 reasons',
  ],
  [{ groups: {} }, 'groups = an object'],
  [{ groups: [1] }, 'groups[0] = 1'],
  [{ groups: [plainGroup, plainGroup] }, 'groups[1] = "can0/1/false/data"'],
  [group({ colour: 1 }), 'groups[0].colour = 1'],
  [group({ bus: 'can 0' }), 'groups[0].bus = "can 0"'],
  [group({ id: 0x800 }), 'groups[0].id = 2048 is not valid; it must be an integer from 0 to 2047'],
  [group({ id: 0x2000_0000, extended: true }), 'an integer from 0 to 536870911'],
  [group({ extended: 0 }), 'groups[0].extended = 0'],
  [group({ kind: 'flexray' }), 'groups[0].kind = "flexray"'],
  [group({ dtUs: [] }), 'groups[0].dtUs = an array of 0'],
  [group({ dtUs: [0, 0.5] }), 'groups[0].dtUs[1] = 0.5'],
  [group({ dtUs: [-1, 0] }), 'groups[0].dtUs[0] = -1'],
  [
    group({ dtUs: [0, 1_000] }),
    'groups[0].dtUs[1] = 1000 is not valid; it must be a step to a time',
  ],
  [group({ dtUs: ['0', 0] }), 'groups[0].dtUs[0] = "0"'],
  [group({ lengths: 9 }), 'groups[0].lengths = 9'],
  [group({ lengths: 2.5 }), 'groups[0].lengths = 2.5'],
  [group({ lengths: Uint8Array.of(4) }), 'groups[0].lengths = 1 bytes'],
  [group({ lengths: Uint8Array.of(1, 9) }), 'groups[0].lengths[1] = 9'],
  [group({ kind: 'fd', lengths: 9 }), '0 to 8, 12, 16, 20, 24, 32, 48 or 64'],
  [
    group({ payload: Uint8Array.of(1) }),
    'groups[0].payload = 1 bytes is not valid; it must be 4 bytes',
  ],
  [group({ payload: 'abcd' }), 'groups[0].payload = "abcd"'],
  [without('lengths'), 'groups[0].lengths = missing'],
  [{ groups: [{ ...remote, lengths: 0, payload: new Uint8Array(0) }] }, 'groups[0].lengths = 0'],
  [
    { groups: [{ ...remote, kind: 'error' }] },
    'groups[0].id = 1 is not valid; it must be an integer from 0 to 0',
  ],
  [
    group({ payloadHex: ['00'] }),
    'groups[0].payloadHex = an array of 1 is not valid; it must be left out',
  ],
];

const encodeDocument = (changes: Document): Uint8Array =>
  encode({ ...document, ...changes }, { ignoreUndefinedProperties: true });

test.each(REFUSED)('decodeBatch of %o names what is wrong', (changes, message) => {
  expect(() => decodeBatch(encodeDocument(changes), 'application/cbor')).toThrow(message);
  expect(() => decodeBatch(encodeDocument(changes), 'application/cbor')).toThrow(TachographError);
});

test('decodeBatch of the unchanged document is accepted', () => {
  expect(decodeBatch(encodeDocument({}), 'application/cbor').groups).toHaveLength(1);
});

test.each([
  [['0'], 'groups[0].payloadHex[0] = "0"'],
  [['zz'], 'groups[0].payloadHex[0] = "zz"'],
  [['00'.repeat(9)], 'hex digits of 0 to 8 bytes'],
  [[7], 'groups[0].payloadHex[0] = 7'],
  [[], 'an array of 1 to 1 entries'],
])('decodeBatch of JSON with payloadHex %j names what is wrong', (payloadHex, message) => {
  const { lengths: _l, payload: _p, ...rest } = plainGroup;
  const body = JSON.stringify({ ...document, groups: [{ ...rest, dtUs: [0], payloadHex }] });
  expect(() => decodeBatch(Buffer.from(body), 'application/json')).toThrow(message);
});

test('decodeBatch refuses a frame beyond 200,000, spread over groups', () => {
  const dtUs = Array.from({ length: 100_000 }, () => 0);
  const many = { ...remote, dtUs };
  const groups = [many, { ...many, id: 2 }];
  expect(decodeBatch(encodeDocument({ groups }), 'application/cbor').groups).toHaveLength(2);
  const more = [...groups, { ...many, id: 3, dtUs: [0] }];
  expect(() => decodeBatch(encodeDocument({ groups: more }), 'application/cbor')).toThrow(
    '200000 frames in all groups',
  );
});

test('decodeBatch refuses group 4,097', () => {
  const groups = Array.from({ length: 4_097 }, (_, id) => ({ ...remote, id, extended: true }));
  const body = encodeDocument({ groups: groups.slice(1) });
  expect(decodeBatch(body, 'application/cbor').groups).toHaveLength(4_096);
  expect(() => decodeBatch(encodeDocument({ groups }), 'application/cbor')).toThrow('0 to 4096');
});

test('decodeBatch of any bytes throws a TachographError or gives a batch', () => {
  const body = encodeDocument({});
  fc.assert(
    fc.property(fc.nat({ max: body.length - 1 }), fc.nat({ max: 255 }), (at, byte) => {
      const damaged = body.slice();
      damaged[at] = byte;
      try {
        expect(decodeBatch(damaged, 'application/cbor').vehicle).toBeTypeOf('string');
      } catch (error) {
        expect(error).toBeInstanceOf(TachographError);
      }
    }),
    { numRuns: 2_000 },
  );
});

test.each(['cbor', 'json'] as const)('an emulated batch as %s: the same batch again', (format) => {
  const emulated = batchOf([], { emulated: true });
  const type = `application/${format}`;
  expect(decodeBatch(encodeBatch(emulated, format), type)).toEqual(emulated);
  expect(decodeBatch(encodeBatch(batchOf([]), format), type)).not.toHaveProperty('emulated');
});

test.each([
  ['emulated', false, /emulated = false .*true, or left out/],
  ['emulated', 'yes', /emulated = "yes"/],
  ['groups', [{}], /groups = an array of 1 .*0 to 0 entries/],
])('decodeBatch of an emulated batch with %s = %j is refused', (field, value, message) => {
  const document = {
    ...(JSON.parse(Buffer.from(encodeBatch(batchOf([]), 'json')).toString()) as object),
    emulated: true,
    [field]: value,
  };
  const body = Buffer.from(JSON.stringify(document));
  expect(() => decodeBatch(body, 'application/json')).toThrow(message);
});
