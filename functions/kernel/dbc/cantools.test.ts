import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import type { SignalColumn } from '#kernel/columns/columns.ts';
import { must } from '#kernel/core/assert.ts';

import type { MessageDecoder } from './message-decoder.ts';
import {
  compileDatabase,
  LONGER,
  newColumns,
  physicalValue,
  TRUNCATED,
  UNKNOWN_SELECTOR,
} from './message-decoder.ts';
import type { Message } from './model.ts';
import { parseDbc } from './parse-dbc.ts';

/** What make_fixtures.py wrote: see there. */
const FIXTURES = new URL('fixtures/', import.meta.url);
const DRIVE = new URL('../../../examples/drive/', import.meta.url);

const readJson = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`${name}.expected.json`, FIXTURES), 'utf8'));

interface DriveFrame {
  readonly decoder: MessageDecoder;
  readonly data: Uint8Array;
}

function driveFrames(find: (id: number, extended: boolean) => MessageDecoder | undefined) {
  const log = gunzipSync(readFileSync(new URL('drive-60s.candump.gz', DRIVE))).toString('ascii');
  const frames: DriveFrame[] = [];
  for (const [, id = '', data = ''] of log.matchAll(/ can0 ([0-9A-F]+)#([0-9A-F]*)/g)) {
    const decoder = find(Number.parseInt(id, 16), id.length > 3);
    if (decoder !== undefined) frames.push({ decoder, data: Buffer.from(data, 'hex') });
  }
  return frames;
}

type SignalSummary = [string, string, number, number, number, string];

function summarize(message: Message, column: SignalColumn): SignalSummary {
  const rows = [...column.present.keys()].filter((row) => column.present[row] === 1);
  const values = Float64Array.from(rows, (row) =>
    physicalValue(column.signal, must(column.values[row], 'raw value')),
  );
  // Typed arrays are little-endian on every machine that Node runs on here, as the fixture is.
  const digest = createHash('sha256').update(new Uint8Array(values.buffer)).digest('hex');
  return [
    message.name,
    column.signal.name,
    values.length,
    values[0] ?? 0,
    values.at(-1) ?? 0,
    digest,
  ];
}

test('decoder with the recorded drive gives every value that cantools gives', () => {
  interface Expected {
    readonly frames: number;
    readonly signals: SignalSummary[];
  }
  const expected = readJson('drive-60s') as Expected;
  const database = parseDbc(readFileSync(new URL('toyota_2017.dbc', DRIVE)));
  expect(database.faults).toEqual([]);
  const frames = driveFrames(compileDatabase(database).find);
  const actual: SignalSummary[] = [];
  for (const [decoder, own] of Map.groupBy(frames, (frame) => frame.decoder)) {
    const columns = newColumns(decoder.message, own.length);
    for (const [row, { data }] of own.entries()) {
      decoder.decodeRow(data, 0, data.length, columns, row);
    }
    for (const column of columns) {
      const summary = summarize(decoder.message, column);
      if (summary[2] > 0) actual.push(summary);
    }
  }
  expect(frames).toHaveLength(expected.frames);
  expect(frames.length).toBeGreaterThan(30_000);
  const key = ([message, signal]: SignalSummary): string => `${message}.${signal}`;
  const sorted = (rows: SignalSummary[]): SignalSummary[] =>
    rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  expect(sorted(actual)).toEqual(sorted(expected.signals));
});

type Value = number | string;

interface ExpectedFrame {
  readonly data: string;
  /** Missing where cantools refused the frame because of a selector's value. */
  readonly raw?: Record<string, Value>;
  readonly physical?: Record<string, Value>;
}

interface ExpectedMessage {
  readonly name: string;
  readonly id: number;
  readonly extended: boolean;
  readonly byteLength: number;
  readonly isFd: boolean;
  readonly cycleMs: number | null;
  readonly comment: string;
  readonly signals: readonly {
    readonly name: string;
    readonly unit: string;
    readonly comment: string;
    readonly labels: readonly (readonly [number | bigint, string])[];
  }[];
  readonly frames: readonly ExpectedFrame[];
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

function describeMessage(message: Message): Omit<ExpectedMessage, 'frames'> {
  const { name, id, extended, byteLength, isFd, comment } = message;
  const signals = message.signals
    .map(({ name, unit, comment, labels }) => ({
      name,
      unit,
      comment,
      labels: [...labels].toSorted((a, b) => (a[0] < b[0] ? -1 : 1)),
    }))
    .toSorted(byName);
  return {
    name,
    id,
    extended,
    byteLength,
    isFd,
    cycleMs: message.cycleMs ?? null,
    comment,
    signals,
  };
}

/** Decodes into row 1 of 3, so that a write to a wrong row would be seen. */
function decode(decoder: MessageDecoder, hex: string) {
  // The payload lies behind two bytes and before one that must not be read.
  const payload = Buffer.from(`a5a5${hex}5a`, 'hex');
  const columns = newColumns(decoder.message, 3);
  const flags = decoder.decodeRow(payload, 2, hex.length / 2, columns, 1);
  const present = columns.filter((column) => column.present[1] === 1);
  const read = (column: SignalColumn): number | bigint => must(column.values[1], 'raw value');
  for (const column of columns) {
    expect([column.values[0], column.values[2]].map(Number)).toEqual([0, 0]);
    if (column.present[1] === 0) expect(Number(read(column))).toBe(0);
  }
  const raw = present.map((column) => [column.signal.name, toJson(read(column))]);
  const physical = present.map(({ signal, values }) => [
    signal.name,
    toJson(physicalValue(signal, must(values[1], 'raw value'))),
  ]);
  return { flags, raw: Object.fromEntries(raw), physical: Object.fromEntries(physical) };
}

/** As as_json in make_fixtures.py. */
function toJson(value: number | bigint): Value {
  if (typeof value === 'bigint') {
    const isExact = value >= -(2n ** 53n) && value <= 2n ** 53n;
    return isExact ? Number(value) : String(value);
  }
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return value;
}

const names = readdirSync(FIXTURES)
  .filter((file) => file.endsWith('.dbc'))
  .map((file) => file.slice(0, -'.dbc'.length));

describe.each(names)('%s.dbc', (name) => {
  const database = parseDbc(readFileSync(new URL(`${name}.dbc`, FIXTURES)));
  const { messages } = readJson(name) as { messages: ExpectedMessage[] };
  const find = compileDatabase(database).find;
  const decoderOf = ({ id, extended }: ExpectedMessage): MessageDecoder =>
    must(find(id, extended), `decoder of ${id}`);

  test('parseDbc finds what cantools finds, without a fault', () => {
    expect(database.faults).toEqual([]);
    const expected = messages.map((message) => ({ ...message, frames: undefined }));
    expect(database.messages.map(describeMessage).toSorted(byName)).toEqual(
      expected.toSorted(byName),
    );
  });

  test('decodeRow gives the values that cantools gives, for whole, short and long frames', () => {
    for (const message of messages) {
      expect(message.frames.length).toBeGreaterThan(50);
      for (const { data, raw, physical } of message.frames) {
        const decoded = decode(decoderOf(message), data);
        const bytes = data.length / 2;
        const where = `${message.name} ${data}`;
        expect(decoded.flags & TRUNCATED, where).toBe(bytes < message.byteLength ? TRUNCATED : 0);
        if (raw === undefined) {
          expect(decoded.flags & UNKNOWN_SELECTOR, where).toBe(UNKNOWN_SELECTOR);
        } else {
          expect(decoded.flags & UNKNOWN_SELECTOR, where).toBe(0);
          expect(decoded.raw, where).toEqual(raw);
          expect(decoded.physical, where).toEqual(physical);
        }
        if (bytes <= message.byteLength) expect(decoded.flags & LONGER, where).toBe(0);
      }
    }
  });
});
