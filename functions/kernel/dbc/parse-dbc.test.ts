import { describe, expect, test } from 'vitest';

import { must } from '#kernel/core/assert.ts';

import type { Database, Message, Signal } from './model.ts';
import { parseDbc } from './parse-dbc.ts';

const parse = (text: string): Database => parseDbc(Buffer.from(text));

/** Of a text that must be free of faults. */
function messagesOf(text: string): readonly Message[] {
  const { faults, messages } = parse(text);
  expect(faults).toEqual([]);
  return messages;
}

const messageOf = (text: string): Message => must(messagesOf(text)[0], 'first message');

const signalOf = (text: string): Signal => must(messageOf(text).signals[0], 'first signal');

const HEAD = 'BO_ 36 Motion: 8 ESP\n SG_ Speed : 7|16@0+ (0.01,-5) [0|250] "km/h" Dash,HUD\n';

describe('parseDbc of messages and signals', () => {
  test('a message and its signal have every field', () => {
    expect(messagesOf(`VERSION "7"\n\n${HEAD}`)).toEqual([
      {
        name: 'Motion',
        id: 36,
        extended: false,
        byteLength: 8,
        isFd: false,
        transmitter: 'ESP',
        comment: '',
        cycleMs: undefined,
        signals: [
          {
            name: 'Speed',
            startBit: 7,
            bitLength: 16,
            byteOrder: 'motorola',
            valueType: 'unsigned',
            factor: 0.01,
            offset: -5,
            min: 0,
            max: 250,
            unit: 'km/h',
            comment: '',
            isSelector: false,
            multiplex: undefined,
            labels: new Map(),
          },
        ],
      },
    ]);
    expect(parse('VERSION "7"').version).toBe('7');
  });

  test('@1 is Intel, - is signed, exponents and missing digits are numbers', () => {
    const signal = signalOf('BO_ 1 M: 8 N\n SG_ A : 3|5@1- (1E-3,+.5) [-1e2|1.] "" N\n');
    expect(signal).toMatchObject({
      byteOrder: 'intel',
      valueType: 'signed',
      factor: 0.001,
      offset: 0.5,
      min: -100,
      max: 1,
    });
  });

  test('blanks, comments and line ends may be anywhere, transmitter and receivers may be missing', () => {
    const text =
      'BO_ 1 M :8\r\n SG_ A:0|8@1 + ( 1 , 0 ) [ 0 | 0 ] ""\r\n// SG_ no : 1\r\nCM_ "x" ;';
    expect(messageOf(text)).toMatchObject({ name: 'M', transmitter: '', signals: [{ name: 'A' }] });
    expect(messageOf(text.replaceAll('\r\n', '\r')).signals).toHaveLength(1);
    const oneLine = 'BO_ 1 M: 8 SG_ A : 0|8@1+ (1,0) [0|0] "" N SG_ B : 0|8@1+ (1,0) [0|0] "" N,O';
    expect(messageOf(oneLine).transmitter).toBe('');
    expect(messageOf(oneLine).signals.map(({ name }) => name)).toEqual(['A', 'B']);
  });

  test('bit 31 of an id marks 29 bits, as does its combination with bits 29 and 30', () => {
    // 2566834709 = 0x98FECA15: the flag and the 29-bit id 0x18FECA15.
    expect(messageOf('BO_ 2566834709 M: 8 N\n')).toMatchObject({ id: 0x18fe_ca15, extended: true });
    expect(messageOf('BO_ 4294967295 M: 8 N\n')).toMatchObject({ id: 0x1fff_ffff, extended: true });
    expect(messageOf('BO_ 2047 M: 8 N\n')).toMatchObject({ id: 2047, extended: false });
  });

  test('the container of independent signals is no message', () => {
    const text = `BO_ 3221225472 VECTOR__INDEPENDENT_SIG_MSG: 0 Vector__XXX
 SG_ Lonely : 0|8@1+ (1,0) [0|0] "" Vector__XXX
CM_ SG_ 3221225472 Lonely "x";
`;
    expect(messagesOf(text)).toEqual([]);
    // Some files give it another id.
    expect(messagesOf(text.replaceAll('3221225472', '1073741824'))).toEqual([]);
  });

  test('names below NS_, nodes, bit timing and unused statements are passed over', () => {
    const unused = [
      'BO_TX_BU_ 36 : ESP,Dash;',
      'SIG_GROUP_ 36 Group 1 : Speed;',
      'EV_ Env: 0 [0|1] "" 0 1 DUMMY_NODE_VECTOR0 Vector__XXX;',
      'VAL_ Env 0 "a;b" 1 "c" ;',
      'BA_DEF_REL_ BU_SG_REL_  "GenSigTimeoutTime" INT 0 65535;',
      'BA_REL_ "GenSigTimeoutTime" BU_SG_REL_ Dash SG_ 36 Speed 10;',
      'CM_ EV_ Env "text";',
      'BA_ "Manufacturer" "ACME";',
    ];
    const text = `VERSION ""\nNS_ :\n\tNS_DESC_\n\tCM_\n\tVAL_\n\nBS_: 500 : 1,2\nBU_: ESP Dash\n  HUD\n`;
    expect(messagesOf(`${text}${HEAD}${unused.join('\n')}\n`)).toHaveLength(1);
  });
});

describe('parseDbc of what is said about messages and signals', () => {
  test('comments keep line breaks, quotes and lines that look like statements', () => {
    const text = `${HEAD}CM_ BO_ 36 "first\nBO_ 37 second";\nCM_ SG_ 36 Speed "of the \\"car\\"";\n`;
    const message = messageOf(text);
    expect(messageOf(text.replaceAll('\n', '\r\n'))).toEqual(message);
    expect(message.comment).toBe('first\nBO_ 37 second');
    expect(message.signals[0]?.comment).toBe('of the "car"');
  });

  test('value tables are written in place or named, negative values included', () => {
    const inPlace = signalOf(`${HEAD}VAL_ 36 Speed -1 "none" 0x10 "top" 0 "" ;\n`);
    expect([...inPlace.labels]).toEqual([
      [-1, 'none'],
      [16, 'top'],
      [0, ''],
    ]);
    const named = signalOf(`VAL_TABLE_ OnOff 1 "on" 0 "off" ;\n${HEAD}VAL_ 36 Speed OnOff ;\n`);
    expect([...named.labels]).toEqual([
      [1, 'on'],
      [0, 'off'],
    ]);
  });

  test('SIG_VALTYPE_ makes floats, with or without colon', () => {
    const text = (type: string, bits: number): string =>
      `BO_ 1 M: 8 N\n SG_ A : 0|${bits}@1- (1,0) [0|0] "" N\nSIG_VALTYPE_ 1 A ${type};\n`;
    expect(signalOf(text(': 1', 32)).valueType).toBe('float32');
    expect(signalOf(text('2', 64)).valueType).toBe('float64');
    expect(signalOf(text(': 0', 12)).valueType).toBe('signed');
  });

  test('GenMsgCycleTime is its own value, else the default, else nothing; 0 is nothing', () => {
    const two = 'BO_ 1 A: 0 N\nBO_ 2 B: 0 N\nBO_ 3 C: 0 N\n';
    const own = 'BA_ "GenMsgCycleTime" BO_ 1 20;\nBA_ "GenMsgCycleTime" BO_ 3 0;\n';
    const cycles = (text: string): (number | undefined)[] =>
      messagesOf(text).map((message) => message.cycleMs);
    expect(cycles(two)).toEqual([undefined, undefined, undefined]);
    expect(cycles(two + own)).toEqual([20, undefined, undefined]);
    // The default comes behind the values in some files; that must not matter.
    expect(cycles(`${two}${own}BA_DEF_DEF_ "GenMsgCycleTime" 100;\n`)).toEqual([
      20,
      100,
      undefined,
    ]);
    expect(cycles(`${two}BA_DEF_DEF_ "GenMsgCycleTime" 0;\n`)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('VFrameFormat marks CAN FD by number, by the text of its enum, or else the length does', () => {
    const isFd = (text: string): boolean | undefined => messageOf(text).isFd;
    const long = 'BO_ 1 A: 12 N\n';
    const define = 'BA_DEF_ BO_ "VFrameFormat" ENUM "ExtendedCAN_FD","StandardCAN";\n';
    expect(isFd(`BO_ 1 A: 8 N\nBA_ "VFrameFormat" BO_ 1 14;\n`)).toBe(true);
    expect(isFd(`${long}BA_ "VFrameFormat" BO_ 1 0;\n`)).toBe(false);
    // This file's own enum: 0 is CAN FD, 1 is not.
    expect(isFd(`${long}${define}BA_ "VFrameFormat" BO_ 1 0;\n`)).toBe(true);
    expect(isFd(`${long}${define}BA_ "VFrameFormat" BO_ 1 1;\n`)).toBe(false);
    expect(isFd(`${long}BA_DEF_DEF_ "VFrameFormat" "StandardCAN";\n`)).toBe(false);
    expect(isFd(long)).toBe(true);
    expect(isFd('BO_ 1 A: 65 N\n')).toBe(false);
  });

  test('long names replace short ones, in selectors too, while statements use the short ones', () => {
    const message = messageOf(`BO_ 1 Short_0001: 2 N
 SG_ Sel_0001 M : 0|8@1+ (1,0) [0|0] "" N
 SG_ Data_0001 m1 : 8|8@1+ (1,0) [0|0] "" N
BA_ "SystemMessageLongSymbol" BO_ 1 "ShortIsNowLong";
BA_ "SystemSignalLongSymbol" SG_ 1 Sel_0001 "SelectorLong";
BA_ "SystemSignalLongSymbol" SG_ 1 Data_0001 "DataLong";
CM_ SG_ 1 Data_0001 "by the short name";
`);
    expect(message.name).toBe('ShortIsNowLong');
    expect(message.signals.map(({ name }) => name)).toEqual(['SelectorLong', 'DataLong']);
    expect(message.signals[1]?.multiplex).toEqual({ selector: 'SelectorLong', ranges: [[1, 1]] });
    expect(message.signals[1]?.comment).toBe('by the short name');
  });

  test('text is UTF-8 where it is valid UTF-8, else Windows-1252', () => {
    const text = 'BO_ 1 M: 1 N\n SG_ T : 0|8@1+ (1,0) [0|0] "°C €" N\n';
    const unit = (bytes: Uint8Array): string | undefined =>
      parseDbc(bytes).messages[0]?.signals[0]?.unit;
    expect(unit(Buffer.from(text))).toBe('°C €');
    expect(unit(Buffer.from(`\uFEFF${text}`))).toBe('°C €');
    // Windows-1252 has the degree sign at B0 and, other than ISO 8859-1, the euro sign at 80.
    const windows = Buffer.from(text.replace('€', '\u0080'), 'latin1');
    expect(windows.includes(0x80)).toBe(true);
    expect(unit(windows)).toBe('°C €');
  });
});

describe('parseDbc of multiplexing', () => {
  const conditions = (text: string) =>
    messageOf(text).signals.map(({ name, isSelector, multiplex }) => [
      name,
      isSelector,
      multiplex && `${multiplex.selector}:${multiplex.ranges.map((r) => r.join('-')).join(',')}`,
    ]);
  const head = 'BO_ 1 M: 8 N\n';
  const signal = (name: string, role: string, byte: number): string =>
    ` SG_ ${name} ${role} : ${byte * 8}|8@1+ (1,0) [0|0] "" N\n`;

  test('m3 is value 3 of the only M, wherever that stands', () => {
    expect(conditions(head + signal('A', 'm3', 1) + signal('S', 'M', 0))).toEqual([
      ['A', false, 'S:3-3'],
      ['S', true, undefined],
    ]);
  });

  test('SG_MUL_VAL_ overrides the number, gives ranges and adds to an earlier one', () => {
    const text = `${head}${signal('S', 'M', 0)}${signal('A', 'm0', 1)}
SG_MUL_VAL_ 1 A S 1-3, 7-7;
SG_MUL_VAL_ 1 A S 9-9 12-13;
`;
    expect(conditions(text)[1]).toEqual(['A', false, 'S:1-3,7-7,9-9,12-13']);
  });

  test('m1M is on page 1 and itself a selector', () => {
    const text = `${head}${signal('S', 'M', 0)}${signal('T', 'm1M', 1)}${signal('A', 'm2', 2)}
SG_MUL_VAL_ 1 T S 1-1;
SG_MUL_VAL_ 1 A T 2-2;
`;
    expect(conditions(text)).toEqual([
      ['S', true, undefined],
      ['T', true, 'S:1-1'],
      ['A', false, 'T:2-2'],
    ]);
  });
});
