import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDemand } from './format-demand.ts';
import { parseDemands } from './parse-demand.ts';
import { demands } from './testing/arbitrary-demands.ts';

const file = (content: string) => () => content;

test('parseDemands reads each form of the grammar', () => {
  const text =
    'cpuTime:50ms@before  work:lognormal(mean=50ms, cv=0.5)@instead;rate=local\n' +
    'delay:exponential(mean=20ms)@after memory:64MiB/500ms@before payload:2KiB@after ' +
    'work:uniform(min=500us,max=1s)@before delay:normal(mean=1.5ms,sd=0.5ms)@after';
  expect(parseDemands(text)).toEqual([
    { kind: 'cpuTime', ms: { kind: 'constant', value: 50 }, place: 'before' },
    { kind: 'work', ms: { kind: 'lognormal', mean: 50, cv: 0.5 }, place: 'instead', rate: 'local' },
    { kind: 'delay', ms: { kind: 'exponential', mean: 20 }, place: 'after' },
    {
      kind: 'memory',
      bytes: { kind: 'constant', value: 64 * 1024 * 1024 },
      holdMs: 500,
      place: 'before',
    },
    { kind: 'payload', bytes: { kind: 'constant', value: 2048 }, place: 'after' },
    {
      kind: 'work',
      ms: { kind: 'uniform', min: 0.5, max: 1000 },
      place: 'before',
      rate: 'reference',
    },
    { kind: 'delay', ms: { kind: 'normal', mean: 1.5, sd: 0.5 }, place: 'after' },
  ]);
});

test('parseDemands of nothing asks for nothing', () => {
  expect(parseDemands('')).toEqual([]);
  expect(parseDemands(' \n ')).toEqual([]);
});

test('parseDemands reads the values of an empirical amount, with and without units', () => {
  const content = '# measured\n10\n20ms\n\n0.5s # slow\r\n';
  expect(parseDemands('work:empirical(file=a b/x@y.txt)@before', file(content))).toEqual([
    {
      kind: 'work',
      ms: { kind: 'empirical', file: 'a b/x@y.txt', values: [10, 20, 500] },
      place: 'before',
      rate: 'reference',
    },
  ]);
});

test.each<[text: string, column: number, detail: RegExp]>([
  ['cpuTime:-5ms@before', 9, /"-5ms" is negative; write a time such as 60s/],
  ['cpuTime:NaNms@before', 9, /"NaNms" is not a number with a unit/],
  ['cpuTime:NaN@before', 9, /"NaN" is not a number with a unit/],
  ['cpuTime:1e12@before', 13, /the unit is missing; use one of us, ms, s/],
  ['cpuTime:1e12ms@before', 9, /1e12ms is out of range; use 0 to 60s/],
  ['cpuTime:60001ms@before', 9, /60001ms is out of range; use 0 to 60s/],
  ['cpuTime:1e999ms@before', 9, /"1e999ms" is not finite; use 0 to 60s/],
  ['cpuTime:Infinityms@before', 9, /"Infinityms" is not finite/],
  ['cpuTime:5min@before', 10, /the unit "min" is not known here; use one of us, ms, s/],
  ['cpuTime:5KiB@before', 10, /the unit "KiB" is not known here/],
  ['payload:5ms@before', 10, /the unit "ms" is not known here; use one of B, KiB, MiB, GiB/],
  ['payload:5constructor@before', 10, /the unit "constructor" is not known/],
  ['cpu:5ms@before', 1, /the kind "cpu" is not known; use one of cpuTime, work, delay/],
  ['toString:5ms@before', 1, /the kind "toString" is not known/],
  ['delay:5ms@before cpu:5ms@before', 18, /the kind "cpu"/],
  ['work:pareto(alpha=1)@before', 6, /the distribution "pareto" is not known; use one of uniform/],
  ['work:exponential(mean=Infinity)@before', 23, /"Infinity" is not finite/],
  ['work:exponential(mean=1e999s)@before', 23, /is not finite/],
  ['work:lognormal(mean=5ms,cv=inf)@before', 28, /"inf" is not finite/],
  ['work:lognormal(mean=5ms,cv=11)@before', 28, /cv=11 is out of range; use 0 to 10/],
  ['work:lognormal(mean=5ms,cv=5ms)@before', 28, /write a cv without a unit/],
  ['work:lognormal(mean=5ms)@before', 16, /cv is missing; write lognormal\(mean=,cv=\)/],
  ['work:normal(mean=60s,sd=60s)@before', 13, /the mean is above 60s/],
  ['work:uniform(min=5ms,max=1ms)@before', 18, /min is above max/],
  ['work:uniform(min=5ms,min=1ms)@before', 22, /min is given twice/],
  ['work:uniform(min=5ms,top=1ms)@before', 22, /"top" is no parameter here; write uniform/],
  ['work:uniform()@before', 14, /"" is no parameter here/],
  ['work:exponential(mean=50ms@before', 17, /"\(" has no partner/],
  ['work:exponential(mean=(5ms))@before', 23, /"\(" has no partner/],
  ['work:50ms)@before', 10, /"\)" has no partner/],
  ['work:5ms@later', 10, /the place "later" is not known; use one of @before, @after, @instead/],
  ['work:5ms', 9, /the place is missing/],
  ['work@before', 5, /the amount is missing; write KIND:AMOUNT@PLACE/],
  ['work:5ms@before;rate=fast', 17, /the option "rate=fast" is not known; use rate=reference/],
  ['cpuTime:5ms@before;rate=local', 20, /the option "rate=local" is not known; cpuTime has none/],
  ['memory:5MiB@before', 12, /how long to hold it is missing; write memory:64MiB/],
  ['memory:uniform(min=1MiB,max=3MiB)@after', 34, /how long to hold it is missing/],
  ['memory:2GiB/1s@after', 8, /2GiB is out of range; use 0 to 1GiB/],
  ['memory:1GiB/61s@after', 13, /61s is out of range; use 0 to 60s/],
  ['payload:9MiB@after', 9, /9MiB is out of range; use 0 to 8MiB/],
])('parseDemands refuses %s at column %d', (text, column, detail) => {
  expect(() => parseDemands(text)).toThrow(
    expect.objectContaining({
      code: 'DEMAND_INVALID',
      fields: { column, detail: expect.stringMatching(detail) as string },
    }) as Error,
  );
});

test.each<[content: string, detail: RegExp]>([
  ['1\n-2\n', /values.txt:2 "-2ms" is not a time of 0 to 60s/],
  ['1\nNaN\n', /values.txt:2 "NaN" is not a time/],
  ['61s', /values.txt:1 "61s" is not a time of 0 to 60s/],
  ['# none\n', /the file values.txt has no value/],
  ['1\n'.repeat(100_001), /values.txt has more than 100000 values/],
  ['#'.repeat(4 * 1024 ** 2 + 1), /larger than 4194304 bytes/],
])('parseDemands refuses an empirical file that is not usable', (content, detail) => {
  const text = 'delay:empirical(file=values.txt)@before';
  expect(() => parseDemands(text, file(content))).toThrow(detail);
});

test('parseDemands names an empirical file that is not there', () => {
  expect(() => parseDemands('delay:empirical(file=/no/such)@before')).toThrow(
    /column 22: the file \/no\/such cannot be read: ENOENT/,
  );
});

test('parseDemands takes 16 demands and 4096 characters, not more', () => {
  const one = 'delay:1ms@after ';
  expect(parseDemands(one.repeat(16))).toHaveLength(16);
  expect(() => parseDemands(one.repeat(17))).toThrow(/column 257: more than 16 demands/);
  expect(parseDemands(one.padEnd(4096))).toHaveLength(1);
  expect(() => parseDemands(one.padEnd(4097))).toThrow(/column 4097: the text is longer/);
});

test('formatDemand writes what parseDemands reads back', () => {
  fc.assert(
    fc.property(fc.array(demands, { maxLength: 5 }), (list) => {
      const text = list.map(formatDemand).join(' ');
      expect(parseDemands(text, file('1\n2\n3\n'))).toEqual(list);
    }),
  );
});

test.each([
  'work:50ms@instead;rate=local',
  'memory:64MiB/500ms@before',
  'payload:1536B@after',
  'delay:0.5ms@after',
])('formatDemand gives %s back as it was', (text) => {
  expect(parseDemands(text).map(formatDemand)).toEqual([text]);
});
