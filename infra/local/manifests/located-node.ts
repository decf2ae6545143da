/** Where a piece of YAML was written: file relative to the repository, line from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

export type Scalar = string | number | boolean | null;

/** YAML that remembers where each piece was written, also after patches moved it. */
export type LocatedNode =
  | { readonly kind: 'scalar'; readonly value: Scalar; readonly at: Place }
  | { readonly kind: 'list'; readonly items: LocatedNode[]; readonly at: Place }
  | { readonly kind: 'map'; readonly entries: Map<string, LocatedNode>; readonly at: Place };

export type LocatedMap = Extract<LocatedNode, { kind: 'map' }>;

/** The same without places: ordinary values. */
export type PlainValue =
  | Scalar
  | readonly PlainValue[]
  | { readonly [name: string]: PlainValue | undefined };

export const placeText = (at: Place): string => `${at.file}:${at.line}`;

export function plainValue(node: LocatedNode): PlainValue {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainValue);
  // Without a prototype, a key named "__proto__" is a key like any other.
  const value = Object.create(null) as Record<string, PlainValue>;
  for (const [name, child] of node.entries) value[name] = plainValue(child);
  return value;
}

/** A copy that shares nothing with the original, so that a patch of one never shows in the other. */
export function copyNode(node: LocatedNode): LocatedNode {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'list') return { ...node, items: node.items.map(copyNode) };
  const entries = new Map<string, LocatedNode>();
  for (const [name, child] of node.entries) entries.set(name, copyNode(child));
  return { ...node, entries };
}

/** The node under nested keys, or undefined where one of them is missing. */
export function nodeAt(node: LocatedNode, ...names: readonly string[]): LocatedNode | undefined {
  let current: LocatedNode | undefined = node;
  for (const name of names) {
    current = current?.kind === 'map' ? current.entries.get(name) : undefined;
  }
  return current;
}

/** The text under nested keys, or undefined where it is missing or no text. */
export function textAt(node: LocatedNode, ...names: readonly string[]): string | undefined {
  const found = nodeAt(node, ...names);
  return found?.kind === 'scalar' && typeof found.value === 'string' ? found.value : undefined;
}

/** A plain value as text, undefined for anything but text. */
export const plainText = (value: PlainValue | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
