import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSessionFile } from './export-unit.ts';
import { busNames, columnNames, messageNames } from './safe-names.ts';

const message = (name: string, id: number, extended = false) => ({ name, id, extended });
const named = (...messages: ReturnType<typeof message>[]): string[] => [
  ...messageNames(messages).values(),
];

test('messageNames + names as a DBC has them stay as they are', () => {
  expect(named(message('WHEEL_SPEEDS', 170), message('KINEMATICS', 36))).toEqual([
    'WHEEL_SPEEDS',
    'KINEMATICS',
  ]);
});

test.each([
  ['../../etc/passwd', '______etc_passwd~64'],
  ['..', '__~64'],
  ['a\0b', 'a_b~64'],
  ['', '~64'],
  ['a-b', 'a_b~64'],
  ['Tür', 'T_r~64'],
  ['M'.repeat(300), `${'M'.repeat(100)}~64`],
])('messageNames + %j becomes a safe name that tells its id', (name, safe) => {
  expect(named(message(name, 100))).toEqual([safe]);
});

test('messageNames + equal names, also where case is ignored, are told apart by their ids', () => {
  const names = named(
    message('STATUS', 1),
    message('Status', 2),
    message('STATUS', 2, true),
    message('OTHER', 3),
  );
  expect(names).toEqual(['STATUS~1', 'Status~2', 'STATUS~2x', 'OTHER']);
});

test('busNames + can0 stays; a path, a dot file and upper case become other names', () => {
  const names = busNames(['can0', '../x', '.hidden', 'CAN0']);
  expect(names.get('../x')).toMatch(/^_._x~[0-9a-f]{8}$/);
  expect(names.get('.hidden')).toMatch(/^_hidden~[0-9a-f]{8}$/);
  expect(names.get('can0')).toMatch(/^can0~[0-9a-f]{8}$/);
  expect(names.get('CAN0')).toMatch(/^CAN0~[0-9a-f]{8}$/);
  expect(busNames(['can0', 'can1']).get('can0')).toBe('can0');
});

test('columnNames + time_us is taken, repeated and unprintable names get their place', () => {
  expect(columnNames(['SPEED', 'time_us', 'Time_US', 'A', 'a', 'x\0y', '=1+1', ''])).toEqual([
    'SPEED',
    'time_us~2',
    'Time_US~3',
    'A~4',
    'a~5',
    'x_y~6',
    '=1+1',
    '~8',
  ]);
});

test('messageNames + any texts give different file names that are served and nothing else is', () => {
  const entry = fc.record({ name: fc.string({ unit: 'binary' }), extended: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 12 }),
      fc.string({ unit: 'binary' }),
      (entries, bus) => {
        const messages = entries.map((each, id) => ({ ...each, id }));
        const names = named(...messages);
        expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(messages.length);
        const busName = busNames([bus]).get(bus) ?? '';
        for (const name of names) {
          const file = `${busName}-${name}.parquet`;
          expect(file.length).toBeLessThanOrEqual(255);
          expect(isSessionFile(`recorded/${file}`)).toBe(true);
        }
      },
    ),
  );
});

test('columnNames + any texts give different names, also where case is ignored', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 12 }), (signals) => {
      const names = ['time_us', ...columnNames(signals)].map((name) => name.toLowerCase());
      expect(new Set(names).size).toBe(signals.length + 1);
    }),
  );
});

test.each([
  '../session.json',
  'recorded/../session.json',
  'recorded/..',
  'recorded/.hidden.csv',
  'recorded//can0-A.csv',
  '/recorded/can0-A.csv',
  'recorded/can0-A.csv\0',
  'recorded/can0-A.csv\n',
  'recorded/can0-A.exe',
  'recorded\\can0-A.csv',
  '+unpublished/unit-1/recorded/can0-A.csv',
  'parts/1-1/recorded/can0-A.csv',
  `recorded/${'A'.repeat(300)}.csv`,
])('isSessionFile + %j is no exported file', (path) => {
  expect(isSessionFile(path)).toBe(false);
});

test.each(['session.json', 'raster/can0-A.parquet', 'parts/00000001-0001/recorded/can0-A~1F.csv'])(
  'isSessionFile + %j is one',
  (path) => {
    expect(isSessionFile(path)).toBe(true);
  },
);
