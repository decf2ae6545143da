import { expect, test } from 'vitest';
import { nodeAt, plainValue } from './located-node.ts';
import { applyJsonPatch, MAX_PATCH_OPERATIONS } from './json-patch.ts';
import { parseYaml } from './parse-yaml.ts';

const node = (text: string, file = 'target.yaml') => {
  const [document] = parseYaml(text, file);
  if (document === undefined) throw new Error('no document');
  return document;
};

const patched = (target: string, patch: string): unknown =>
  JSON.parse(JSON.stringify(plainValue(applyJsonPatch(node(target), node(patch, 'patch.yaml')))));

// Cases restate RFC 6902, appendix A, and RFC 6901, sections 3 to 5.
test.each([
  ['add to a map', '{a: 1}', '[{op: add, path: /b, value: 2}]', { a: 1, b: 2 }],
  ['add over a key', '{a: 1}', '[{op: add, path: /a, value: 2}]', { a: 2 }],
  ['add into a list', '{a: [1, 3]}', '[{op: add, path: /a/1, value: 2}]', { a: [1, 2, 3] }],
  ['add at the end', '{a: [1]}', '[{op: add, path: /a/-, value: 2}]', { a: [1, 2] }],
  ['add at the length', '{a: [1]}', '[{op: add, path: /a/1, value: 2}]', { a: [1, 2] }],
  ['add the whole', '{a: 1}', '[{op: add, path: "", value: {b: 1}}]', { b: 1 }],
  ['replace', '{a: {b: 1}}', '[{op: replace, path: /a/b, value: [x]}]', { a: { b: ['x'] } }],
  ['replace in a list', '{a: [1, 2]}', '[{op: replace, path: /a/0, value: 9}]', { a: [9, 2] }],
  ['remove', '{a: 1, b: 2}', '[{op: remove, path: /a}]', { b: 2 }],
  ['remove from a list', '{a: [1, 2, 3]}', '[{op: remove, path: /a/1}]', { a: [1, 3] }],
  ['move', '{a: {b: 1}, c: {}}', '[{op: move, from: /a/b, path: /c/d}]', { a: {}, c: { d: 1 } }],
  ['copy', '{a: {b: 1}}', '[{op: copy, from: /a, path: /c}]', { a: { b: 1 }, c: { b: 1 } }],
  [
    'a test that holds',
    '{a: [1, {b: x}]}',
    '[{op: test, path: /a, value: [1, {b: x}]}]',
    {
      a: [1, { b: 'x' }],
    },
  ],
  [
    'escaped names',
    '{"a/b": 1, "m~n": 2}',
    '[{op: remove, path: /a~1b}, {op: remove, path: /m~0n}]',
    {},
  ],
])('applyJsonPatch: %s', (_, target, patch, expected) => {
  expect(patched(target, patch)).toEqual(expected);
});

test.each([
  ['replace of what is missing', '[{op: replace, path: /b, value: 1}]', 'there is no /b to patch'],
  ['remove of what is missing', '[{op: remove, path: /a/b/c}]', 'there is no /a/b to patch'],
  ['add below what is missing', '[{op: add, path: /x/y, value: 1}]', 'there is no /x to patch'],
  ['an index past the end', '[{op: add, path: /l/3, value: 1}]', 'there is no /l/3 to patch'],
  ['an index with a leading zero', '[{op: remove, path: /l/01}]', 'there is no /l/01 to patch'],
  ['remove of "-"', '[{op: remove, path: /l/-}]', 'there is no /l/- to patch'],
  ['a test that fails', '[{op: test, path: /l, value: [1]}]', 'test failed: /l is [1,2]'],
  ['text against a number', '[{op: test, path: /l/0, value: "1"}]', 'test failed: /l/0 is 1'],
  ['an unknown op', '[{op: merge, path: /a}]', 'op "merge" is not known'],
  ['a missing value', '[{op: add, path: /b}]', 'needs "value"'],
  ['a missing path', '[{op: add, value: 1}]', 'needs "path"'],
  ['a path that is no pointer', '[{op: remove, path: a}]', 'is not a JSON pointer'],
  ['a bad escape', '[{op: remove, path: /a~2}]', 'is not a JSON pointer'],
  ['a move into itself', '[{op: move, from: /a, path: /a/b}]', 'cannot move /a into itself'],
  ['an unknown field', '[{op: remove, path: /a, force: true}]', 'no field "force"'],
  ['the whole removed', '[{op: remove, path: ""}]', 'whole manifest cannot be removed'],
  ['a strategic merge patch', '{a: 1}', 'a JSON 6902 patch is a list'],
])('applyJsonPatch with %s throws with the line of the operation', (_, patch, message) => {
  expect(() => patched('{a: {}, l: [1, 2]}', patch)).toThrow(message);
  expect(() => patched('{a: {}, l: [1, 2]}', patch)).toThrow(/^patch\.yaml:1: /);
});

test('applyJsonPatch leaves its input as it was, also when a later operation fails', () => {
  const target = node('{a: {b: 1}}');
  const patch = node('[{op: replace, path: /a/b, value: 2}, {op: test, path: /a/b, value: 3}]');
  expect(() => applyJsonPatch(target, patch)).toThrow('test failed');
  expect(plainValue(nodeAt(target, 'a', 'b') ?? target)).toBe(1);
});

test('applyJsonPatch gives what it wrote the place of the patch', () => {
  const patch = node('- op: add\n  path: /b\n  value: 2\n', 'patch.yaml');
  const result = applyJsonPatch(node('{a: 1}'), patch);
  expect(nodeAt(result, 'b')?.at).toEqual({ file: 'patch.yaml', line: 3 });
});

test('applyJsonPatch at the limit of operations works, one more is refused', () => {
  const patch = (count: number) =>
    `[${Array.from({ length: count }, () => '{op: test, path: /a, value: 1}').join(', ')}]`;
  expect(patched('{a: 1}', patch(MAX_PATCH_OPERATIONS))).toEqual({ a: 1 });
  expect(() => patched('{a: 1}', patch(MAX_PATCH_OPERATIONS + 1))).toThrow('at most 256');
});
