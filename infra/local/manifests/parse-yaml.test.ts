import { expect, test } from 'vitest';
import { nodeAt, plainValue, textAt } from './located-node.ts';
import { MAX_YAML_BYTES, MAX_YAML_DEPTH, parseYaml } from './parse-yaml.ts';

const first = (text: string) => {
  const [node] = parseYaml(text, 'a.yaml');
  if (node === undefined) throw new Error('no document');
  return node;
};

test('parseYaml of several documents gives those that hold something', () => {
  const nodes = parseYaml('---\na: 1\n---\n# only a comment\n---\nb: [x, null, true]\n', 'a.yaml');
  expect(JSON.parse(JSON.stringify(nodes.map(plainValue)))).toEqual([
    { a: 1 },
    { b: ['x', null, true] },
  ]);
});

test('parseYaml remembers the line of every key, also of nested and patched-in ones', () => {
  const node = first('a:\n  b:\n    - x\n    - c: 1\nd:\n');
  expect(nodeAt(node, 'a')?.at.line).toBe(1);
  expect(nodeAt(node, 'a', 'b')?.at.line).toBe(2);
  const list = nodeAt(node, 'a', 'b');
  expect(list?.kind === 'list' && list.items.map((item) => item.at.line)).toEqual([3, 4]);
  expect(nodeAt(node, 'd')).toMatchObject({ kind: 'scalar', value: null, at: { line: 5 } });
});

test('parseYaml with a first line counts from there', () => {
  const [node] = parseYaml('a: 1\nb: 2\n', 'a.yaml', 10);
  expect(node === undefined ? 0 : nodeAt(node, 'b')?.at.line).toBe(11);
});

test('parseYaml keeps a key named __proto__ as a key', () => {
  const value = plainValue(first('__proto__: {x: "1"}'));
  expect(Object.keys(value as object)).toEqual(['__proto__']);
  expect(textAt(first('__proto__: x'), '__proto__')).toBe('x');
});

test.each([
  ['a syntax error', 'a: [1\nb: 2\n', /^a\.yaml:\d+: /],
  ['a duplicate key', 'a: 1\nb: 2\na: 3\n', /^a\.yaml:3: /],
  ['an alias', 'a: &x 1\nb: *x\n', /^a\.yaml:1: anchors and aliases/],
  ['a number as key', 'a:\n  1: x\n', /^a\.yaml:2: keys must be text/],
  ['an unknown tag', 'a: 1\nb: !boom x\n', /^a\.yaml:2: /],
  ['infinity', 'a: .inf\n', /^a\.yaml:1: use text, a finite number/],
])('parseYaml of %s throws with file and line', (_, text, message) => {
  expect(() => parseYaml(text, 'a.yaml')).toThrow(message);
});

test('parseYaml at the depth limit reads, one level more is refused', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  expect(parseYaml(nested(MAX_YAML_DEPTH + 1), 'a.yaml')).toHaveLength(1);
  expect(() => parseYaml(nested(MAX_YAML_DEPTH + 2), 'a.yaml')).toThrow('levels of nesting');
});

test('parseYaml at the size limit reads, one byte more is refused', () => {
  const padded = (bytes: number): string => `a: 1 #${'x'.repeat(bytes - 6)}`;
  expect(parseYaml(padded(MAX_YAML_BYTES), 'a.yaml')).toHaveLength(1);
  expect(() => parseYaml(padded(MAX_YAML_BYTES + 1), 'a.yaml')).toThrow('at most 262144');
});
