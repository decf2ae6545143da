import type { CloudEvent as SdkEvent } from 'cloudevents';
import { CloudEvent as SdkCloudEvent, HTTP } from 'cloudevents';
import { expect, test } from 'vitest';
import type { CloudEvent } from './cloud-event.ts';
import { eventFromHttp, eventToBinary, eventToStructured } from './codec.ts';

/**
 * The official SDK is the oracle, as far as it goes: it neither encodes nor decodes header values, so
 * the samples keep to characters that need no encoding.
 */
const EVENTS: readonly CloudEvent[] = [
  { id: '1', source: '/s', type: 't', extensions: {}, data: new Uint8Array() },
  {
    id: 'data-provider/veh-1/s1/00000007/0001',
    source: '/tachograph/data-provider',
    type: 'io.tachograph.window.ready.v1',
    subject: 'veh-1',
    time: '2026-11-30T22:43:01.123Z',
    datacontenttype: 'application/json',
    dataschema: 'https://example.test/schema',
    extensions: { partitionkey: 'veh-1', traceparent: '00-0a-0b-01' },
    data: Buffer.from('{"vehicle":"veh-1","session":"s1","window":7,"revision":1}'),
  },
  {
    id: '3',
    source: 'urn:x',
    type: 't',
    datacontenttype: 'text/plain',
    extensions: { flag: 'true' },
    data: Buffer.from('plain text'),
  },
];

const textOf = (event: SdkEvent<unknown>): string => {
  const { data } = event;
  if (data === undefined) return '';
  return typeof data === 'string' ? data : JSON.stringify(data);
};

function expectSame(theirs: SdkEvent<unknown>, ours: CloudEvent): void {
  theirs.validate();
  const { id, source, type, subject, time, datacontenttype, dataschema, extensions } = ours;
  expect(theirs).toMatchObject({ specversion: '1.0', id, source, type, ...extensions });
  expect([theirs.subject, theirs.datacontenttype, theirs.dataschema]).toEqual([
    subject,
    datacontenttype,
    dataschema,
  ]);
  // The SDK fills in the present where there is no time.
  if (time !== undefined) expect(theirs.time).toBe(time);
  expect(textOf(theirs)).toBe(Buffer.from(ours.data).toString());
}

test.each(EVENTS)('the SDK reads our binary mode: $id', (event) => {
  const { headers, body } = eventToBinary(event);
  const text = body.length === 0 ? undefined : Buffer.from(body).toString();
  expectSame(HTTP.toEvent({ headers, body: text }) as SdkEvent<unknown>, event);
});

test.each(EVENTS)('the SDK reads our structured mode: $id', (event) => {
  const headers = { 'content-type': 'application/cloudevents+json' };
  const message = { headers, body: eventToStructured(event) };
  expectSame(HTTP.toEvent(message) as SdkEvent<unknown>, event);
});

const sdkEvent = ({ data, extensions, ...attributes }: CloudEvent): SdkEvent<unknown> => {
  const text = Buffer.from(data).toString();
  const json = attributes.datacontenttype === 'application/json';
  return new SdkCloudEvent<unknown>({
    ...attributes,
    ...extensions,
    time: attributes.time ?? '2026-01-01T00:00:00.000Z',
    ...(text === '' ? {} : { data: json ? (JSON.parse(text) as unknown) : text }),
  });
};

/** As the SDK makes it: with a time, and JSON as the content type where the event names none. */
const expected = (event: CloudEvent): CloudEvent => ({
  ...event,
  time: event.time ?? '2026-01-01T00:00:00.000Z',
});

const plain = ({ data, ...rest }: CloudEvent): object => ({
  ...rest,
  data: Buffer.from(data).toString(),
});

test.each(EVENTS)('we read the binary mode of the SDK: $id', (event) => {
  const { headers, body } = HTTP.binary(sdkEvent(event));
  const bytes = Buffer.from((body as string | undefined) ?? '');
  const { datacontenttype, ...read } = eventFromHttp(headers, bytes);
  const { datacontenttype: wanted = datacontenttype, ...rest } = expected(event);
  expect(plain(read)).toEqual(plain(rest));
  // It sends "application/json; charset=utf-8" where the event names no type.
  expect(datacontenttype).toBe(wanted);
});

test.each(EVENTS)('we read the structured mode of the SDK: $id', (event) => {
  const { headers, body } = HTTP.structured(sdkEvent(event));
  const read = eventFromHttp(headers, Buffer.from(body as string));
  expect(plain(read)).toEqual(plain(expected(event)));
});
