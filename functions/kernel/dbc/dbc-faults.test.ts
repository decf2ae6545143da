import { describe, expect, test } from 'vitest';

import { TachographError } from '#kernel/core/errors.ts';

import {
  MAX_BROKEN_STATEMENTS,
  MAX_DBC_BYTES,
  MAX_LISTED_FAULTS,
  MAX_MESSAGES,
  MAX_NAME_CHARACTERS,
  MAX_SIGNALS_PER_MESSAGE,
  MAX_STATEMENT_CHARACTERS,
} from './limits.ts';
import type { Database } from './model.ts';
import { parseDbc } from './parse-dbc.ts';

const parse = (text: string): Database => parseDbc(Buffer.from(text));

/** `line:column message` for each fault. */
const faultsOf = ({ faults }: Database): string[] =>
  faults.map(({ line, column, message }) => `${line}:${column} ${message}`);

/** `Message(Signal,Signal)` for each message that was kept. */
const keptOf = ({ messages }: Database): string[] =>
  messages.map(({ name, signals }) => `${name}(${signals.map((signal) => signal.name).join()})`);

const signal = (name: string, layout = '0|8@1+ (1,0)'): string =>
  ` SG_ ${name} : ${layout} [0|0] "" N\n`;

const FIRST = `BO_ 1 First: 8 N\n${signal('A')}${signal('B')}`;
const LAST = `BO_ 9 Last: 8 N\n${signal('Z')}`;

describe('parseDbc of a broken statement keeps the rest and reports line and column', () => {
  test.each([
    // Lines 1 to 3 are FIRST; the broken text begins in line 4.
    ['a word that is no statement', 'garbage 12;\n', '4:1 Expected a statement'],
    ['a binary character', '\u0007\u0001"\n', '4:1 Expected a statement'],
    ['a signal without start bit', ' SG_ C : |8@1+ (1,0)\n', '4:10 Expected a start bit'],
    [
      'a signal without colon',
      ' SG_ C 0|8@1+\n',
      '4:8 Expected ":", M, m<number> or m<number>M, found 0',
    ],
    [
      'a wrong role',
      ' SG_ C x3 : 0|8@1+\n',
      '4:8 Expected ":", M, m<number> or m<number>M, found x3',
    ],
    ['a wrong byte order', ' SG_ C : 0|8@2+ (1,0) [0|0] "" N\n', '4:14 Expected a byte order'],
    ['a comma as decimal point', ' SG_ C : 0|8@1+ (0,5,0) [0|0] "" N\n', '4:21 Expected ")"'],
    ['an unclosed unit', ' SG_ C : 0|8@1+ (1,0) [0|0] "km\n', '4:29 Expected'],
    ['a comment without text', 'CM_ BO_ 1 ;\n', '4:11 Expected a comment, found ;'],
    ['an unclosed comment', 'CM_ BO_ 1 "never closed;\n', '4:11 Expected'],
    ['a label without text', 'VAL_ 1 A 0 "off" 1 ;\n', "4:20 Expected a value's text"],
    ['a wrong value type', 'SIG_VALTYPE_ 1 A : 3;\n', '4:20 Expected a value type from 0 to 2'],
    ['a range without end', 'SG_MUL_VAL_ 1 A B 1-;\n', '4:21 Expected the last value'],
    ['an attribute without value', 'BA_ "X" BO_ 1 ;\n', '4:15 Expected a value, found ;'],
    ['a negative message id', 'CM_ BO_ -1 "x";\n', '4:9 Expected a message id from 0 to'],
    ['a default without name', 'BA_DEF_DEF_ 5;\n', '4:13 Expected an attribute name'],
    ['a definition without type', 'BA_DEF_ BO_ "X" ;\n', '4:17 Expected an attribute type'],
    ['a version without quotes', 'VERSION 1\n', '4:9 Expected a version'],
    ['a group that never ends', 'SIG_GROUP_ 1 G 1 : A\n', '5:1 Expected ";", found BO_'],
  ])('%s', (_, broken, fault) => {
    const database = parse(FIRST + broken + LAST);
    expect(keptOf(database)).toEqual(['First(A,B)', 'Last(Z)']);
    expect(faultsOf(database)).toEqual([expect.stringContaining(fault)]);
  });

  test('a broken signal does not take the following ones with it', () => {
    const database = parse(`BO_ 1 M: 8 N\n${signal('A')} SG_ B : oops\n${signal('C')}`);
    expect(keptOf(database)).toEqual(['M(A,C)']);
    expect(faultsOf(database)).toEqual([expect.stringMatching(/^3:10 /)]);
  });

  test.each([
    ['no name', 'BO_ 2 : 8 N\n'],
    ['a misspelt keyword', 'B0_ 2 Second: 8 N\n'],
    ['a comment sign in the head', 'BO_ 2 Second: N\n'],
  ])('a message head with %s takes its signals with it, they do not fall to another', (_, head) => {
    const database = parse(`${FIRST}${head}${signal('X')}${signal('Y')}${LAST}`);
    expect(keptOf(database)).toEqual(['First(A,B)', 'Last(Z)']);
    expect(database.faults[0]?.line).toBe(4);
  });

  test('a missing semicolon is a fault, but the statement is kept', () => {
    const database = parse(`${FIRST}CM_ BO_ 1 "kept"\nCM_ SG_ 1 A "kept too"`);
    expect(database.messages[0]?.comment).toBe('kept');
    expect(database.messages[0]?.signals[0]?.comment).toBe('kept too');
    expect(faultsOf(database)).toEqual([
      '5:1 Expected ";", found CM_',
      '5:23 Expected ";", found end of file',
    ]);
  });

  test('a comment that runs into the next statements is reported where it begins', () => {
    const text = `${FIRST}CM_ BO_ 1 "never closed;\nCM_ BO_ 1 "good";\n`;
    const database = parse(text);
    expect(database.messages[0]?.comment).toBe('good');
    expect(faultsOf(database)).toEqual([
      '4:11 Expected ";" behind the text that begins here, whose closing quote may be missing, found ' +
        '"never',
    ]);
  });

  test('lines are counted over LF, CR LF and CR, and over a comment of several lines', () => {
    const text = `${FIRST}CM_ BO_ 1 "a\nb";\noops\n`;
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      expect(faultsOf(parse(text.replaceAll('\n', lineEnd)))).toEqual([
        '6:1 Expected a statement such as BO_ or SG_, found oops',
      ]);
    }
  });
});

describe('parseDbc leaves out what cannot be decoded', () => {
  test.each([
    ['a second one of the same name', signal('A', '8|8@1+ (1,0)'), 'another signal of this name'],
    ['no bits', signal('C', '0|0@1+ (1,0)'), 'its length is 0 bits; 1 to 64'],
    ['65 bits', signal('C', '0|65@1+ (1,0)'), 'its length is 65 bits; 1 to 64'],
    // Bit 57 and 8 bits: up to bit 64, that is byte 8, the ninth.
    [
      'Intel bits behind the end',
      signal('C', '57|8@1+ (1,0)'),
      'it needs 9 bytes, but the message has 8',
    ],
    // From bit 3 of byte 7: 4 bits there, the fifth in byte 8.
    ['Motorola bits behind the end', signal('C', '59|5@0+ (1,0)'), 'it needs 9 bytes'],
    ['a factor of 0', signal('C', '0|8@1+ (0,1)'), 'its factor is 0'],
    ['an infinite factor', signal('C', '0|8@1+ (1e999,1)'), 'is not finite'],
    [
      'half a float',
      `${signal('C', '0|16@1- (1,0)')}SIG_VALTYPE_ 1 C : 1;\n`,
      'a float32 has 32 bits, not 16',
    ],
  ])('a signal with %s', (_, text, fault) => {
    const database = parse(FIRST + text + LAST);
    expect(keptOf(database)).toEqual(['First(A,B)', 'Last(Z)']);
    expect(faultsOf(database)).toEqual([expect.stringContaining(fault)]);
    expect(database.faults[0]?.line).toBeGreaterThanOrEqual(4);
  });

  test.each([
    ['a used id', 'BO_ 1 Other: 8 N\n', '"First" has the same id 1'],
    ['a used name', 'BO_ 2 First: 8 N\n', 'another message has the same name'],
    // 2^29, without bit 31.
    ['an id of 30 bits', 'BO_ 536870912 Other: 8 N\n', 'its id 536870912 has more than 29 bits'],
    ['an absurd length', 'BO_ 2 Other: 4096 N\n', 'its length is 4096 bytes; at most 4095'],
  ])('a message with %s', (_, head, fault) => {
    const database = parse(`${FIRST}${head}${signal('X')}${LAST}`);
    expect(keptOf(database)).toEqual(['First(A,B)', 'Last(Z)']);
    expect(faultsOf(database)).toEqual([expect.stringContaining(fault)]);
  });

  test('an id above 11 bits without its mark is extended, with a fault that says so', () => {
    const database = parse(`BO_ 2048 M: 8 N\n${signal('A')}CM_ BO_ 2048 "x";\n${LAST}`);
    expect(database.messages[0]).toMatchObject({ id: 2048, extended: true, comment: 'x' });
    expect(keptOf(database)).toEqual(['M(A)', 'Last(Z)']);
    expect(faultsOf(database)).toEqual([
      expect.stringMatching(/^1:1 .*read as one of 29; add 2147483648/),
    ]);
  });

  test('a marked and an unmarked spelling of one id are the same id', () => {
    const database = parse('BO_ 2147491648 A: 8 N\nBO_ 8000 B: 8 N\n');
    expect(keptOf(database)).toEqual(['A()']);
    expect(faultsOf(database)).toEqual([
      '2:1 The message "B" is left out: "A" has the same id 8000',
    ]);
  });

  test('equal numbers of a standard and an extended id are two messages', () => {
    expect(parse('BO_ 1 A: 8 N\nBO_ 2147483649 B: 8 N\n').faults).toEqual([]);
  });

  test('signals without a message, with one fault for the run of them', () => {
    const database = parse(`${FIRST}CM_ "x";\n${signal('X')}${signal('Y')}${LAST}`);
    expect(keptOf(database)).toEqual(['First(A,B)', 'Last(Z)']);
    expect(faultsOf(database)).toEqual([expect.stringMatching(/^5:2 The signal "X" and those/)]);
  });

  test.each([
    ['CM_ BO_ 7 "x";', 'a message with id 7'],
    ['CM_ SG_ 1 Q "x";', 'a signal "Q" in the message "First"'],
    ['VAL_ 1 Q 0 "x";', 'a signal "Q"'],
    ['VAL_ 1 A Nowhere;', 'a value table "Nowhere"'],
    ['SIG_VALTYPE_ 7 A : 1;', 'a message with id 7'],
    ['SG_MUL_VAL_ 1 Q A 0-0;', 'a signal "Q"'],
    ['BA_ "GenMsgCycleTime" BO_ 7 1;', 'a message with id 7'],
    ['BA_ "Any" SG_ 1 Q 1;', 'a signal "Q"'],
  ])('%s refers to nothing', (statement, what) => {
    const database = parse(`${FIRST}${statement}\n${LAST}`);
    expect(keptOf(database)).toEqual(['First(A,B)', 'Last(Z)']);
    expect(faultsOf(database)).toEqual([
      expect.stringContaining(`4:1 The file does not define ${what}`),
    ]);
  });

  test('what refers to something left out is no second fault', () => {
    const text = `BO_ 536870912 M: 8 N\n${signal('A')}CM_ BO_ 536870912 "x";\nCM_ SG_ 536870912 A "x";\n`;
    expect(parse(text).faults).toHaveLength(1);
    const lostSignal = `BO_ 1 M: 8 N\n${signal('A', '0|99@1+ (1,0)')}CM_ SG_ 1 A "x";\n`;
    expect(parse(lostSignal).faults).toHaveLength(1);
  });
});

describe('parseDbc of impossible multiplexing leaves out the signal, not the message', () => {
  const muxed = (name: string, role: string): string =>
    ` SG_ ${name} ${role} : 0|8@1+ (1,0) [0|0] "" N\n`;
  const wide = ' SG_ S M : 0|60@1+ (1,0) [0|0] "" N\n';
  const float = ' SG_ S M : 0|32@1- (1,0) [0|0] "" N\n';
  const root = muxed('S', 'M');

  test.each([
    ['no selector', muxed('A', 'm1'), '', 'M(P)', 'has 0 signals marked M'],
    [
      'two selectors',
      root + muxed('T', 'M') + muxed('A', 'm1'),
      '',
      'M(P,S,T)',
      'has 2 signals marked M',
    ],
    [
      'an unknown selector',
      root + muxed('A', 'm1'),
      'SG_MUL_VAL_ 1 A Q 1-1;',
      'M(P,S)',
      '"Q" is no signal',
    ],
    ['itself', root + muxed('A', 'm1M'), 'SG_MUL_VAL_ 1 A A 1-1;', 'M(P,S)', 'depends on it'],
    [
      'a float',
      `${float}${muxed('A', 'm1')}`,
      'SIG_VALTYPE_ 1 S : 1;',
      'M(P,S)',
      'no integer of at most 53',
    ],
    ['60 bits', wide + muxed('A', 'm1'), '', 'M(P,S)', 'no integer of at most 53 bits'],
    [
      'a backward range',
      root + muxed('A', 'm1'),
      'SG_MUL_VAL_ 1 A S 5-3;',
      'M(P,S)',
      '5-3 runs backwards',
    ],
    [
      'two selectors by name',
      root + muxed('T', 'M') + muxed('A', 'm1'),
      'SG_MUL_VAL_ 1 A S 1-1;\nSG_MUL_VAL_ 1 A T 1-1;',
      'M(P,S,T)',
      'two selectors, "S" and "T"',
    ],
  ])('%s', (_, signals, statements, kept, fault) => {
    const database = parse(`BO_ 1 M: 8 N\n${signal('P')}${signals}${statements}\n${LAST}`);
    expect(keptOf(database)).toEqual([kept, 'Last(Z)']);
    expect(faultsOf(database)).toEqual([expect.stringContaining(fault)]);
  });

  test('a ring of selectors and what hangs on it', () => {
    const signals = muxed('A', 'm1M') + muxed('B', 'm1M') + muxed('C', 'm1');
    const statements = [
      'SG_MUL_VAL_ 1 A B 1-1;',
      'SG_MUL_VAL_ 1 B A 1-1;',
      'SG_MUL_VAL_ 1 C B 1-1;',
    ].join('\n');
    const database = parse(`BO_ 1 M: 8 N\n${signal('P')}${signals}${statements}\n`);
    expect(keptOf(database)).toEqual(['M(P)']);
    expect(database.faults.map(({ line }) => line)).toEqual([6, 7, 8]);
  });
});

describe('parseDbc of attributes that cannot be used keeps what it had', () => {
  const attribute = (statement: string): Database => parse(`${FIRST}${LAST}${statement}\n`);

  test.each([
    ['BA_ "GenMsgCycleTime" BO_ 1 -5;', '"-5" of GenMsgCycleTime is not used'],
    ['BA_ "GenMsgCycleTime" BO_ 1 "fast";', '"fast" of GenMsgCycleTime is not used'],
    ['BA_DEF_DEF_ "GenMsgCycleTime" "fast";', '"fast" of GenMsgCycleTime is not used'],
    ['BA_ "SystemMessageLongSymbol" BO_ 1 "../etc";', 'must be 1 to 128 letters, digits'],
    ['BA_ "SystemMessageLongSymbol" BO_ 1 "Last";', 'is taken; the short name is kept'],
    ['BA_ "SystemSignalLongSymbol" SG_ 1 A "B";', 'is taken; the short name is kept'],
    ['BA_ "SystemSignalLongSymbol" SG_ 1 A 5;', 'must be 1 to 128 letters, digits'],
  ])('%s', (statement, fault) => {
    const database = attribute(statement);
    expect(keptOf(database)).toEqual(['First(A,B)', 'Last(Z)']);
    expect(database.messages.map(({ cycleMs }) => cycleMs)).toEqual([undefined, undefined]);
    expect(faultsOf(database)).toEqual([expect.stringContaining(fault)]);
  });

  test('of two equal long names the first is used', () => {
    const signals = attribute(
      'BA_ "SystemSignalLongSymbol" SG_ 1 A "Long";\nBA_ "SystemSignalLongSymbol" SG_ 1 B "Long";',
    );
    expect(keptOf(signals)).toEqual(['First(Long,B)', 'Last(Z)']);
    expect(signals.faults).toHaveLength(1);
    const messages = attribute(
      'BA_ "SystemMessageLongSymbol" BO_ 1 "Long";\nBA_ "SystemMessageLongSymbol" BO_ 9 "Long";',
    );
    expect(keptOf(messages)).toEqual(['Long(A,B)', 'Last(Z)']);
    expect(messages.faults).toHaveLength(1);
  });
});

describe('parseDbc at its limits', () => {
  const codeOf = (source: Uint8Array): string => {
    try {
      parseDbc(source);
    } catch (error) {
      if (error instanceof TachographError) return error.code;
      throw error;
    }
    return 'accepted';
  };

  test('bytes: as many as allowed are read, one more is refused', () => {
    expect(codeOf(new Uint8Array(MAX_DBC_BYTES).fill(32))).toBe('accepted');
    expect(codeOf(new Uint8Array(MAX_DBC_BYTES + 1))).toBe('DBC_TOO_LARGE');
  });

  test('messages: as many as allowed are read, one more is refused', () => {
    const messages = (count: number): Buffer =>
      Buffer.from(
        Array.from({ length: count }, (_, id) => `BO_ ${2 ** 31 + id} M${id}: 8 N\n`).join(''),
      );
    expect(codeOf(messages(MAX_MESSAGES))).toBe('accepted');
    expect(codeOf(messages(MAX_MESSAGES + 1))).toBe('DBC_TOO_MANY_MESSAGES');
  });

  test('signals: a message keeps as many as allowed, with one fault for the rest', () => {
    const names = Array.from({ length: MAX_SIGNALS_PER_MESSAGE + 2 }, (_, index) => `S${index}`);
    const database = parse(`BO_ 1 M: 8 N\n${names.map((name) => signal(name)).join('')}${LAST}`);
    expect(database.messages.map(({ signals }) => signals.length)).toEqual([
      MAX_SIGNALS_PER_MESSAGE,
      1,
    ]);
    expect(faultsOf(database)).toEqual([
      `${MAX_SIGNALS_PER_MESSAGE + 2}:2 The message "M" has more than 4096 signals; the rest is left out`,
    ]);
  });

  test('a statement: one of the allowed length is read, a longer one is left out', () => {
    // `CM_ "` and `"` and `;` around the text.
    const comment = (characters: number): Database =>
      parse(`CM_ "${'x'.repeat(characters - 7)}";\n${LAST}`);
    expect(comment(MAX_STATEMENT_CHARACTERS).faults).toEqual([]);
    const tooLong = comment(MAX_STATEMENT_CHARACTERS + 1);
    expect(keptOf(tooLong)).toEqual(['Last(Z)']);
    expect(faultsOf(tooLong)).toEqual([expect.stringMatching(/^1:1 The statement is longer than/)]);
  });

  test('a name: one of the allowed length is read, a longer one is left out', () => {
    const named = (length: number): Database => parse(`BO_ 1 ${'n'.repeat(length)}: 8 N\n${LAST}`);
    expect(named(MAX_NAME_CHARACTERS).messages).toHaveLength(2);
    expect(keptOf(named(MAX_NAME_CHARACTERS + 1))).toEqual(['Last(Z)']);
  });

  test('faults: as many as allowed are listed, then their number', () => {
    const database = parse(FIRST + 'CM_ BO_ 7 "x";\n'.repeat(MAX_LISTED_FAULTS + 5));
    expect(database.faults).toHaveLength(MAX_LISTED_FAULTS + 1);
    expect(database.faults.at(-1)?.message).toBe('5 more faults after the first 1000');
    expect(keptOf(database)).toEqual(['First(A,B)']);
  });

  test('broken statements: as many as allowed are passed over, one more refuses the file', () => {
    const broken = (count: number): Buffer => Buffer.from(FIRST + 'CM_ ;\n'.repeat(count));
    expect(codeOf(broken(MAX_BROKEN_STATEMENTS))).toBe('accepted');
    expect(codeOf(broken(MAX_BROKEN_STATEMENTS + 1))).toBe('DBC_TOO_BROKEN');
  });

  test('an escaped quote outside of a text opens none, so no statement runs on to the bound', () => {
    // Inside a text `\"` is an escape. Were it the start of one outside, each of these lines would be
    // read to the length limit, and a file of them would take the square of its size.
    expect(faultsOf(parse('BU_BO_REL_ \\"\n'.repeat(3)))).toEqual([
      '2:1 Expected ";", found BU_BO_REL_',
      '3:1 Expected ";", found BU_BO_REL_',
      '4:1 Expected ";", found end of file',
    ]);
  });
});

describe('parseDbc of odd files', () => {
  test('an empty file is an empty database', () => {
    expect(parse('')).toEqual({ version: '', messages: [], faults: [] });
    expect(parse(' \r\n\t')).toEqual({ version: '', messages: [], faults: [] });
  });

  test('a file that is no DBC has no messages and at least one fault', () => {
    for (const text of ['{"a":1}', '<xml/>', '\u0000\u0001\u0002', 'P'.repeat(500_000), '"']) {
      const { messages, faults } = parse(text);
      expect(messages).toEqual([]);
      expect(faults.length).toBeGreaterThan(0);
    }
  });
});
