import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readFile } from 'node:fs/promises';
import type { CloudEvent } from './cloud-event.ts';
import type { HttpHeaders } from './codec.ts';
import {
  eventFromHttp,
  eventFromStructured,
  eventToBinary,
  eventToStructured,
  hasEvent,
  MAX_EVENT_BYTES,
} from './codec.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const NONE = new Uint8Array();
const CE = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' };
const STRUCTURED = { 'content-type': 'application/cloudevents+json' };
const minimal: CloudEvent = { id: '1', source: '/s', type: 't', extensions: {}, data: NONE };
const json = (members: object): string =>
  JSON.stringify({ specversion: '1.0', id: '1', source: '/s', type: 't', ...members });

/** What an event looks like on the wire: these files stay for ever, later versions only add. */
const SAMPLES: Readonly<Record<string, CloudEvent>> = {
  'batch-stored': {
    id: 'device-communication/veh-1/s1/00000042',
    source: '/tachograph/device-communication',
    type: 'io.tachograph.batch.stored.v1',
    subject: 'veh-1',
    time: '2026-11-30T22:43:01.123Z',
    datacontenttype: 'application/json',
    extensions: {
      partitionkey: 'veh-1',
      tachointended: '1796164981123',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    },
    data: bytes('{"vehicle":"veh-1","session":"s1","seq":42}'),
  },
  'no-data': { ...minimal, id: 'ping/1', source: 'urn:uuid:6e8bc430' },
  'unicode-attributes': {
    ...minimal,
    subject: 'Euro € "50 %" 😀',
    datacontenttype: 'text/plain; charset=utf-8',
    extensions: { note: ' leading, trailing ' },
    data: bytes('Grüße\n'),
  },
  'binary-data': {
    ...minimal,
    datacontenttype: 'application/octet-stream',
    data: Uint8Array.of(0, 255, 128, 10),
  },
};

/** Headers, an empty line, the body: as it is where it is ASCII, else `base64 …`. */
const wire = ({ headers, body }: ReturnType<typeof eventToBinary>): string => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const text = Buffer.from(body).toString('latin1');
  const readable = /^[\x20-\x7E]*$/.test(text);
  const shown = readable ? text : `base64 ${Buffer.from(body).toString('base64')}`;
  return `${lines.join('\n')}\n\n${shown}`;
};

const unwire = (text: string): [HttpHeaders, Uint8Array] => {
  const end = text.indexOf('\n\n');
  const pairs = text
    .slice(0, end)
    .split('\n')
    .map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]);
  const body = text.slice(end + 2);
  const base64 = /^base64 (.*)/.exec(body)?.[1];
  const bytes = base64 === undefined ? Buffer.from(body) : Buffer.from(base64, 'base64');
  return [Object.fromEntries(pairs), bytes];
};

test.each(Object.entries(SAMPLES))('the wire form of %s is the golden one', async (name, event) => {
  await expect(wire(eventToBinary(event))).toMatchFileSnapshot(`golden/${name}.binary.txt`);
  await expect(eventToStructured(event)).toMatchFileSnapshot(`golden/${name}.structured.json`);
});

test.each(Object.entries(SAMPLES))('the golden wire form of %s is read', async (name, event) => {
  const golden = async (file: string): Promise<string> =>
    readFile(new URL(`golden/${name}.${file}`, import.meta.url), 'utf8');
  const plain = { ...event, data: Buffer.from(event.data) };
  expect(eventFromHttp(...unwire(await golden('binary.txt')))).toEqual(plain);
  const structured = eventFromStructured(await golden('structured.json'));
  expect({ ...structured, data: Buffer.from(structured.data) }).toEqual(plain);
});

const attribute = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 30 })
  .filter((text) => !/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(text));
const anyEvent = fc.record(
  {
    id: attribute,
    source: fc.webPath().filter((path) => path !== ''),
    type: attribute,
    subject: attribute,
    time: fc
      .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString()),
    datacontenttype: fc.constantFrom('application/json', 'text/plain', 'application/cbor'),
    extensions: fc.dictionary(fc.stringMatching(/^x[a-z0-9]{0,10}$/), attribute, {
      noNullPrototype: true,
    }),
    data: fc.uint8Array({ maxLength: 50 }).map((data) => Buffer.from(data)),
  },
  { requiredKeys: ['id', 'source', 'type', 'extensions', 'data'] },
);

test('binary mode round trip: any event comes back as it was', () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const { headers, body } = eventToBinary(event);
      for (const value of Object.values(headers)) expect(value).toMatch(/^[\x21-\x7E]*$/);
      expect(eventFromHttp(headers, body)).toEqual(event);
    }),
  );
});

test('structured mode round trip: any event comes back as it was', () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const back = eventFromHttp(STRUCTURED, bytes(eventToStructured(event)));
      expect({ ...back, data: Buffer.from(back.data) }).toEqual(event);
    }),
  );
});

test('structured mode round trip: JSON data keeps its value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const data = bytes(JSON.stringify(value));
      const event = { ...minimal, datacontenttype: 'application/json', data };
      const back = eventFromStructured(eventToStructured(event));
      expect(JSON.parse(Buffer.from(back.data).toString())).toEqual(
        JSON.parse(JSON.stringify(value)),
      );
    }),
  );
});

test.each([
  ['no specversion', { 'ce-specversion': undefined }, 'the header ce-specversion is missing'],
  ['no id', { 'ce-id': undefined }, 'the header ce-id is missing'],
  ['no source', { 'ce-source': undefined }, 'the header ce-source is missing'],
  ['no type', { 'ce-type': undefined }, 'the header ce-type is missing'],
  ['an empty id', { 'ce-id': '' }, '"id" must not be empty'],
  ['an empty subject', { 'ce-subject': '' }, '"subject" must not be empty'],
  ['another specversion', { 'ce-specversion': '0.3' }, 'specversion = "0.3"'],
  ['a source that is no URI', { 'ce-source': 'a%20b' }, 'source = "a b"'],
  ['a time that is none', { 'ce-time': 'yesterday' }, 'time = "yesterday"'],
  ['a time without zone', { 'ce-time': '2026-11-30T22:43:01' }, 'time = '],
  ['a day that is none', { 'ce-time': '2026-02-30T22:43:01Z' }, 'time = '],
  ['a relative dataschema', { 'ce-dataschema': '/x' }, 'dataschema = "/x"'],
  ['an attribute name with a dash', { 'ce-my-attr': 'x' }, '"my-attr"'],
  ['an attribute named data', { 'ce-data': 'x' }, '"data" is reserved'],
  ['a name too long', { [`ce-${'x'.repeat(65)}`]: 'x' }, 'must be 1 to 64'],
  ['ce-datacontenttype', { 'ce-datacontenttype': 'text/plain' }, 'use content-type'],
  ['an attribute twice', { 'ce-subject': ['a', 'b'] }, 'ce-subject occurs 2 times'],
  ['an attribute in two cases', { 'CE-Id': '2' }, 'ce-id occurs twice'],
  ['raw UTF-8', { 'ce-subject': 'Ã¼' }, 'must be ASCII'],
  ['a lone percent sign', { 'ce-subject': '50%' }, 'write it as %25'],
  ['an overlong encoding', { 'ce-subject': '%C0%A0' }, 'no UTF-8'],
  ['an encoded control character', { 'ce-subject': 'a%0Ab' }, 'control character'],
  ['a quoted string without end', { 'ce-subject': '"abc' }, 'does not end'],
])('eventFromHttp, binary mode, refuses %s', (_, changes, message) => {
  expect(() => eventFromHttp({ ...CE, ...changes }, NONE)).toThrow(message);
});

test.each([
  ['needless encodings', '%61b', 'ab'],
  ['lower-case digits', '%e2%82%ac', '€'],
  ['a quoted string', '"a \\"b\\" c"', 'a "b" c'],
  ['a quoted string with an encoding', '"%C3%BC"', 'ü'],
])('eventFromHttp, binary mode, accepts %s', (_, raw, subject) => {
  expect(eventFromHttp({ ...CE, 'ce-subject': raw }, NONE).subject).toBe(subject);
});

test.each([
  ['no JSON', '{', 'is not JSON'],
  ['an array', '[]', 'one JSON object'],
  ['no id', '{"specversion":"1.0","source":"/s","type":"t"}', 'the attribute id is missing'],
  ['a numeric id', json({ id: 1 }), '"id" must be a string'],
  ['a null id', json({ id: null }), 'the attribute id is missing'],
  ['another specversion', json({ specversion: '2.0' }), 'specversion = "2.0"'],
  ['an upper-case name', json({ Extra: 'x' }), '"Extra"'],
  ['an object attribute', json({ extra: {} }), '"extra" must be a string, a boolean or a 32-bit'],
  ['a fraction', json({ extra: 1.5 }), '32-bit integer'],
  ['an integer of 33 bits', json({ extra: 2 ** 31 }), '32-bit integer'],
  ['a lone surrogate', json({ subject: '\uD800' }), 'invalid Unicode'],
  ['data twice', json({ data: 1, data_base64: 'AA==' }), 'exclude each other'],
  ['base64 that is none', json({ data_base64: '*' }), 'base64'],
  ['an object as text', json({ datacontenttype: 'text/plain', data: {} }), 'must be a string'],
])('eventFromStructured refuses %s', (_, text, message) => {
  expect(() => eventFromStructured(text)).toThrow(message);
});

test('eventFromStructured takes booleans, integers and null as the spec says', () => {
  const text = json({ flag: true, count: -2147483648, none: null, data: null });
  expect(eventFromStructured(text)).toEqual({
    ...minimal,
    extensions: { flag: 'true', count: '-2147483648' },
  });
});

test('eventFromStructured keeps numbers that a double cannot hold', () => {
  const text = `{"specversion":"1.0","id":"1","source":"/s","type":"t","data":[9007199254740993,1.0]}`;
  expect(Buffer.from(eventFromStructured(text).data).toString()).toBe('[9007199254740993,1.0]');
});

test('eventFromStructured makes the implied JSON type explicit', () => {
  expect(eventFromStructured(json({ data: 'x' })).datacontenttype).toBe('application/json');
  expect(eventFromStructured(json({ data_base64: 'AA==' })).datacontenttype).toBeUndefined();
});

test('__proto__ as an attribute is refused and changes nothing', () => {
  const text = '{"__proto__":"x","specversion":"1.0","id":"1","source":"/s","type":"t"}';
  expect(() => eventFromStructured(text)).toThrow('__proto__');
  expect(() => eventFromHttp({ ...CE, ['ce-__proto__']: 'x' }, NONE)).toThrow('__proto__');
});

test('JSON data that is null, and JSON data that is none, travel as base64', () => {
  for (const text of ['null', ' null ', '{', '']) {
    const event = { ...minimal, datacontenttype: 'application/json', data: bytes(text) };
    const back = eventFromStructured(eventToStructured(event));
    expect(Buffer.from(back.data).toString()).toBe(text);
  }
});

test.each(['application/cloudevents-batch+json', 'application/cloudevents+xml'])(
  'eventFromHttp refuses %s',
  (type) => {
    expect(() => eventFromHttp({ 'content-type': type }, NONE)).toThrow(`${type} is not supported`);
  },
);

test('eventFromHttp reads structured mode with parameters and refuses other charsets', () => {
  const body = bytes(json({}));
  const type = 'Application/CloudEvents+JSON; charset="UTF-8"';
  expect(eventFromHttp({ 'content-type': type }, body)).toEqual(minimal);
  const latin = 'application/cloudevents+json; charset=latin1';
  expect(() => eventFromHttp({ 'content-type': latin }, body)).toThrow('charset latin1');
  expect(() => eventFromHttp(STRUCTURED, Uint8Array.of(0xff))).toThrow('not UTF-8');
});

test('eventFromHttp refuses more than maxBytes of data and attributes', () => {
  const data = new Uint8Array(MAX_EVENT_BYTES - 100);
  expect(eventFromHttp(CE, data).data).toHaveLength(data.length);
  const large = { code: 'EVENT_TOO_LARGE' };
  expect(() => eventFromHttp(CE, new Uint8Array(MAX_EVENT_BYTES + 1))).toThrow(
    expect.objectContaining(large) as Error,
  );
  const attributes = { ...CE, 'ce-subject': 'x'.repeat(200) };
  expect(() => eventFromHttp(attributes, data)).toThrow(expect.objectContaining(large) as Error);
  expect(() => eventFromStructured(json({ data: 'x'.repeat(MAX_EVENT_BYTES) }))).toThrow(
    expect.objectContaining(large) as Error,
  );
  const upload = new Uint8Array(1024 * 1024);
  expect(eventFromHttp(CE, upload, 2 * 1024 * 1024).data).toHaveLength(upload.length);
});

test('eventToBinary and eventToStructured refuse attributes that no event can have', () => {
  for (const changes of [
    { id: '' },
    { subject: 'a\nb' },
    { extensions: { Upper: 'x' } },
    { extensions: { id: 'x' } },
  ]) {
    expect(() => eventToBinary({ ...minimal, ...changes })).toThrow('Not a valid CloudEvent');
    expect(() => eventToStructured({ ...minimal, ...changes })).toThrow('Not a valid CloudEvent');
  }
});

test('hasEvent tells an event from another answer', () => {
  expect(hasEvent({ 'ce-specversion': '1.0' })).toBe(true);
  expect(hasEvent(STRUCTURED)).toBe(true);
  expect(hasEvent({ 'content-type': 'application/json' })).toBe(false);
  expect(hasEvent({})).toBe(false);
});

test.each(['traceparent', 'tracestate'])(
  'a %s that a broker has blanked counts as left out',
  (name) => {
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': 'a',
      'ce-source': '/s',
      'ce-type': 't',
      'ce-tachotrace': '00-x',
      [`ce-${name}`]: '',
    };
    expect(eventFromHttp(headers, new Uint8Array()).extensions).toEqual({ tachotrace: '00-x' });
    const structured = { specversion: '1.0', id: 'a', source: '/s', type: 't', [name]: '' };
    const event = eventFromHttp(
      { 'content-type': 'application/cloudevents+json' },
      Buffer.from(JSON.stringify(structured)),
    );
    expect(event.extensions).toEqual({});
  },
);
