import { describe, expect, test } from 'vitest';
import { KEYWORDS } from './keywords.ts';
import { parseDbc } from './parse-dbc.ts';

const MESSAGE = 'BO_ 1 X: 8 A SG_ s : 0|8@1+ (1,0) [0|1] "" B';

const read = (text: string) => {
  const { messages, faults } = parseDbc(Buffer.from(text));
  return {
    kept: messages.map(
      ({ name, signals }) => `${name}(${signals.map((each) => each.name).join()})`,
    ),
    faults: faults.map(({ line, column, message }) => `${line}:${column} ${message}`),
  };
};

describe('parseDbc of a message on the line of another statement reads it', () => {
  test.each([
    'BU_: A B',
    'BU_:',
    'BU_: A,B-2 Steuergerät FILTER',
    'BS_:',
    'BS_: 500 : 1,2',
    'BS_: BU_: A B',
    'NS_ :',
    'NS_ : NS_DESC_ CM_ BA_DEF_ VAL_',
    'NS_ : CM_ BS_: BU_: A',
    `NS_ : ${[...KEYWORDS].join(' ')}`,
    'VERSION "" NS_ : BS_: BU_: A B',
    'VAL_TABLE_ T 0 "a" ;',
    'CM_ "x";',
    'EV_ Env: 0 [0|1] "" 0 1 DUMMY_NODE_VECTOR0 Vector__XXX;',
    'SIG_GROUP_ 9 G 1 : a b;',
    'BA_DEF_REL_ BU_SG_REL_ "T" INT 0 65535;',
  ])('%s', (before) => {
    expect(read(`${before} ${MESSAGE}\n`)).toEqual({ kept: ['X(s)'], faults: [] });
  });
});

describe('parseDbc of a statement without ";" before one on its line reads both and says so', () => {
  const unended = [
    'EV_ Env: 0 [0|1] "" 0 1 DUMMY_NODE_VECTOR0 Vector__XXX',
    'EV_DATA_ Env',
    'ENVVAR_DATA_ Env : 5',
    'SIG_GROUP_ 9 G 1 : a b',
    'BO_TX_BU_ 9 : A,B',
    'BA_DEF_ BO_ "Y" INT 0 10',
    'BA_DEF_DEF_ "Y" 5',
    'BA_ "Y" 5',
    'BA_DEF_REL_ BU_SG_REL_ "T" INT 0 65535',
    'BA_DEF_DEF_REL_ "T" 0',
    'BA_REL_ "T" BU_SG_REL_ A SG_ 9 a 10',
    'BA_SGTYPE_ "T" 1',
    'SGTYPE_ T : 8@1+ (1,0) [0|1] "" 0, V',
    'SIG_TYPE_REF_ 9 a : T',
    'CAT_DEF_ 1 c 0',
    'FILTER 1',
    'VAL_TABLE_ T 0 "a"',
    'VAL_ Env 0 "a"',
    'CM_ "x"',
  ];

  test.each(unended)('%s', (before) => {
    // With a ";" further on in the line, which would have ended the first statement.
    const { kept, faults } = read(`${before} ${MESSAGE} CM_ BO_ 1 "y";\n`);
    expect(kept).toEqual(['X(s)']);
    expect(faults).toEqual([expect.stringMatching(/Expected ";", found BO_$/)]);
  });

  test.each([
    ['VAL_ 1 s 0 "zero" ;', { labels: new Map([[0, 'zero']]) }],
    ['CM_ SG_ 1 s "text";', { comment: 'text' }],
    ['SIG_VALTYPE_ 1 s : 1;', { valueType: 'float32' }],
    ['BA_ "SystemSignalLongSymbol" SG_ 1 s "long";', { name: 'long' }],
  ])('%s', (after, signal) => {
    const head = 'BO_ 1 X: 8 A\n SG_ s : 0|32@1+ (1,0) [0|1] "" B\n';
    const text = `${head}SIG_GROUP_ 1 G 1 : s ${after}\n`;
    const { messages, faults } = parseDbc(Buffer.from(text));
    expect(messages[0]?.signals).toEqual([expect.objectContaining(signal)]);
    expect(faults).toHaveLength(1);
  });
});

describe('parseDbc of a message behind what cannot be read names it', () => {
  test.each([
    ['BU_: A | ', 'a node that is none'],
    ['BS_: fast ', 'bit timing that is none'],
    ['NS_ : lower ', 'a name that is none'],
    ['CM_ BO_ 9 ; ', 'a comment without text'],
    ['; ', 'nothing but a semicolon'],
    ['EV_ "no end ', 'a text without its end'],
  ])('%s%s', (before) => {
    const { kept, faults } = read(`${before}BO_ 1 X: 8 A\nBO_ 2 Y: 8 A\n`);
    expect(kept).toEqual(['Y()']);
    expect(faults).toHaveLength(2);
    expect(faults[1]).toBe(
      `1:${before.length + 1} The message "X" is left out: ` +
        'it stands on a line behind something that cannot be read',
    );
  });

  test('a misspelt BO_ below the nodes is a fault, with signals or without', () => {
    expect(read('BU_: A\nB0_ 1 X: 8 A\nBO_ 2 Y: 8 A\n')).toEqual({
      kept: ['Y()'],
      faults: ['2:5 Expected a statement such as BO_ or SG_, found 1'],
    });
  });

  test('an unclosed text in a statement nobody reads does not take in the next messages', () => {
    const signal = ' SG_ s : 0|8@1+ (1,0) [0|1] "" B\n';
    const text = `EV_ Env: 0 [0|1] "km 0 1 N V;\nBO_ 1 X: 8 A\n${signal}BO_ 2 Y: 8 A\n${signal}CM_ "z";\n`;
    expect(read(text)).toEqual({
      kept: ['X(s)', 'Y(s)'],
      faults: ['1:18 Expected a closing quote before the next statement, found "km'],
    });
  });
});

test('parseDbc + names below NS_ end before any first statement', () => {
  const names = `NS_ :\n${[...KEYWORDS].map((word) => `\t${word}\n`).join('')}\n`;
  const firsts = [
    'BS_:\nBU_: A\n',
    'BU_ : A\n',
    'VAL_TABLE_ T 0 "a" ;\n',
    'EV_ ENV: 0 [0|1];\n',
    '',
  ];
  for (const first of firsts) {
    expect(read(`${names}${first}${MESSAGE}\n`)).toEqual({ kept: ['X(s)'], faults: [] });
  }
});

test('parseDbc + a factor or an offset that no double holds is used rounded, with a fault', () => {
  const scaled = (scale: string) =>
    parseDbc(Buffer.from(`BO_ 1 X: 8 A\n SG_ s : 7|64@0+ ${scale} [0|0] "" B\n`));
  // -2^63 and 0.1: the one is a double, the other always means the nearest one.
  expect(scaled('(0.1,-9223372036854775808)').faults).toEqual([]);
  const { messages, faults } = scaled('(9007199254740993,-9223372036854775807)');
  expect(messages[0]?.signals[0]).toMatchObject({ factor: 2 ** 53, offset: -(2 ** 63) });
  expect(faults.map(({ column, message }) => `${column} ${message}`)).toEqual([
    '19 9007199254740993 is a factor that no double holds; 9007199254740992 is used in its place',
    '36 -9223372036854775807 is an offset that no double holds; ' +
      '-9223372036854775808 is used in its place',
  ]);
});
