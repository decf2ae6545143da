import { isDeepStrictEqual } from 'node:util';
import { copyNode, nodeAt, plainValue, textAt, type LocatedNode } from './located-node.ts';
import { manifestError } from './manifest-error.ts';

export const MAX_PATCH_OPERATIONS = 256;

const FIELDS = new Set(['op', 'path', 'from', 'value']);

/**
 * Applies a JSON Patch (RFC 6902) to a manifest and returns the patched one; the input stays as it is.
 *
 * Throws MANIFEST_INVALID with the file and line of the operation that cannot be applied; then nothing
 * of the patch counts, as the RFC asks.
 */
export function applyJsonPatch(target: LocatedNode, patch: LocatedNode): LocatedNode {
  if (patch.kind !== 'list') throw manifestError(patch.at, 'a JSON 6902 patch is a list');
  if (patch.items.length > MAX_PATCH_OPERATIONS) {
    const detail = `${patch.items.length} operations; at most ${MAX_PATCH_OPERATIONS} are applied`;
    throw manifestError(patch.at, detail);
  }
  let result = copyNode(target);
  for (const operation of patch.items) result = applyOperation(result, operation);
  return result;
}

function applyOperation(root: LocatedNode, operation: LocatedNode): LocatedNode {
  if (operation.kind !== 'map') throw manifestError(operation.at, 'an operation is a map');
  for (const [name, node] of operation.entries) {
    if (!FIELDS.has(name)) throw manifestError(node.at, `an operation has no field "${name}"`);
  }
  const op = textAt(operation, 'op') ?? '';
  const path = pointerOf(operation, 'path');
  switch (op) {
    case 'add':
      return put(root, path, copyNode(valueOf(operation)), operation, 'add');
    case 'replace':
      return put(root, path, copyNode(valueOf(operation)), operation, 'replace');
    case 'remove':
      return take(root, path, operation).rest;
    case 'test': {
      const found = plainValue(follow(root, path, operation));
      const wanted = plainValue(valueOf(operation));
      if (isDeepStrictEqual(found, wanted)) return root;
      const detail = `test failed: ${textOf(path)} is ${JSON.stringify(found)}`;
      throw manifestError(operation.at, detail);
    }
    case 'copy': {
      const source = copyNode(follow(root, pointerOf(operation, 'from'), operation));
      return put(root, path, source, operation, 'add');
    }
    case 'move': {
      const from = pointerOf(operation, 'from');
      if (path.length > from.length && from.every((token, index) => token === path[index])) {
        throw manifestError(operation.at, `cannot move ${textOf(from)} into itself`);
      }
      const { rest, taken } = take(root, from, operation);
      return put(rest, path, taken, operation, 'add');
    }
    default: {
      const detail = `op "${op}" is not known; use add, remove, replace, move, copy or test`;
      throw manifestError(operation.at, detail);
    }
  }
}

const textOf = (tokens: readonly string[]): string =>
  tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** RFC 6901: "" is the whole document, "~1" is "/" and "~0" is "~". */
function pointerOf(operation: LocatedNode, field: 'path' | 'from'): readonly string[] {
  const text = textAt(operation, field);
  if (text === undefined) throw manifestError(operation.at, `the operation needs "${field}"`);
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) {
    throw manifestError(operation.at, `"${text}" is not a JSON pointer such as /spec/template`);
  }
  return text
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueOf(operation: LocatedNode): LocatedNode {
  const value = nodeAt(operation, 'value');
  if (value === undefined) throw manifestError(operation.at, 'the operation needs "value"');
  return value;
}

function missing(operation: LocatedNode, tokens: readonly string[]): Error {
  return manifestError(operation.at, `there is no ${textOf(tokens)} to patch`);
}

function follow(root: LocatedNode, tokens: readonly string[], operation: LocatedNode): LocatedNode {
  let node = root;
  for (const [depth, token] of tokens.entries()) {
    const child =
      node.kind === 'map'
        ? node.entries.get(token)
        : node.kind === 'list'
          ? node.items[indexOf(token, node.items.length)]
          : undefined;
    if (child === undefined) throw missing(operation, tokens.slice(0, depth + 1));
    node = child;
  }
  return node;
}

/** A list index without leading zeros, or -1: so "01" is no element, as the RFC asks. */
const indexOf = (token: string, length: number): number =>
  /^(0|[1-9]\d{0,8})$/.test(token) && Number(token) < length ? Number(token) : -1;

function put(
  root: LocatedNode,
  tokens: readonly string[],
  value: LocatedNode,
  operation: LocatedNode,
  mode: 'add' | 'replace',
): LocatedNode {
  const last = tokens.at(-1);
  if (last === undefined) return value;
  const parent = follow(root, tokens.slice(0, -1), operation);
  if (parent.kind === 'map') {
    if (mode === 'replace' && !parent.entries.has(last)) throw missing(operation, tokens);
    parent.entries.set(last, value);
    return root;
  }
  if (parent.kind !== 'list') throw missing(operation, tokens);
  const { items } = parent;
  if (mode === 'replace') {
    const index = indexOf(last, items.length);
    if (index < 0) throw missing(operation, tokens);
    items[index] = value;
    return root;
  }
  // "-" and the length itself append.
  const index = last === '-' ? items.length : indexOf(last, items.length + 1);
  if (index < 0) throw missing(operation, tokens);
  items.splice(index, 0, value);
  return root;
}

function take(
  root: LocatedNode,
  tokens: readonly string[],
  operation: LocatedNode,
): { rest: LocatedNode; taken: LocatedNode } {
  const last = tokens.at(-1);
  if (last === undefined) throw manifestError(operation.at, 'the whole manifest cannot be removed');
  const taken = follow(root, tokens, operation);
  const parent = follow(root, tokens.slice(0, -1), operation);
  if (parent.kind === 'map') parent.entries.delete(last);
  if (parent.kind === 'list') parent.items.splice(Number(last), 1);
  return { rest: root, taken };
}
