import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Node } from 'yaml';
import type { LocatedNode, Place } from './located-node.ts';
import { manifestError } from './manifest-error.ts';

export const MAX_YAML_BYTES = 262_144;
export const MAX_YAML_DEPTH = 32;

/**
 * The documents of a YAML file, each piece with the line it was written on. Empty documents are left out.
 *
 * Refused, with file and line: syntax errors, duplicate keys, keys that are no text, anchors and
 * aliases (a small file must not describe a large one), custom tags, more than 32 levels.
 */
export function parseYaml(text: string, file: string, firstLine = 1): LocatedNode[] {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_YAML_BYTES) {
    const detail = `the file has ${bytes} bytes; at most ${MAX_YAML_BYTES} are read`;
    throw manifestError({ file, line: 1 }, detail);
  }
  const lines = new LineCounter();
  const placeOf = (offset: number | undefined): Place => ({
    file,
    line: lines.linePos(offset ?? 0).line + firstLine - 1,
  });
  const nodes: LocatedNode[] = [];
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })) {
    if (!('contents' in document)) continue;
    const fault = document.errors[0] ?? document.warnings[0];
    if (fault !== undefined) throw manifestError(placeOf(fault.pos[0]), fault.message, fault);
    if (document.contents === null) continue;
    if (isScalar(document.contents) && document.contents.value === null) continue;
    nodes.push(locate(document.contents, placeOf, 0));
  }
  return nodes;
}

function locate(node: Node, placeOf: (offset?: number) => Place, depth: number): LocatedNode {
  const at = placeOf(node.range?.[0]);
  if (depth > MAX_YAML_DEPTH) {
    throw manifestError(at, `more than ${MAX_YAML_DEPTH} levels of nesting`);
  }
  if (isAlias(node) || ('anchor' in node && node.anchor !== undefined)) {
    throw manifestError(at, 'anchors and aliases are not accepted; write the value out');
  }
  if (isScalar(node)) return locateScalar(node.value, at);
  if (isSeq(node)) {
    const items = node.items.map((item) => locate(item as Node, placeOf, depth + 1));
    return { kind: 'list', items, at };
  }
  if (isMap(node)) {
    const entries = new Map<string, LocatedNode>();
    for (const pair of node.items) {
      const key = pair.key as Node;
      const keyAt = placeOf(key.range?.[0]);
      if (!isScalar(key) || typeof key.value !== 'string') {
        throw manifestError(keyAt, 'keys must be text; put the key in quotes');
      }
      const value = pair.value as Node | null;
      const child: LocatedNode =
        value === null
          ? { kind: 'scalar', value: null, at: keyAt }
          : locate(value, placeOf, depth + 1);
      // A fault is looked for where the key stands, also when its value begins a line below.
      entries.set(key.value, { ...child, at: keyAt });
    }
    return { kind: 'map', entries, at };
  }
  throw manifestError(at, 'this kind of YAML node is not accepted');
}

function locateScalar(value: unknown, at: Place): LocatedNode {
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  ) {
    return { kind: 'scalar', value, at };
  }
  throw manifestError(at, 'use text, a finite number, true, false or null');
}
