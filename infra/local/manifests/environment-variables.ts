import { nodeAt, textAt, type LocatedNode, type Place } from './located-node.ts';
import { manifestError } from './manifest-error.ts';

export type EnvironmentVariable =
  | { readonly name: string; readonly value: string; readonly at: Place }
  | {
      readonly name: string;
      readonly from: {
        readonly kind: 'ConfigMap' | 'Secret';
        readonly name: string;
        readonly key: string;
        /** Without the key the variable is left out. */
        readonly optional: boolean;
      };
      readonly at: Place;
    };

/** A container's `env`; throws MANIFEST_INVALID with file and line. */
export const readEnvironment = (node: LocatedNode | undefined): readonly EnvironmentVariable[] =>
  node?.kind === 'list' ? node.items.map(readVariable) : [];

function readVariable(node: LocatedNode): EnvironmentVariable {
  const name = textAt(node, 'name') ?? '';
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) {
    throw manifestError(node.at, `"${name}" is not a name of an environment variable`);
  }
  const { at } = node;
  const value = nodeAt(node, 'value');
  const from = nodeAt(node, 'valueFrom');
  if (value !== undefined && from === undefined) {
    const text = textAt(node, 'value');
    if (text === undefined) throw manifestError(value.at, `the value of ${name} must be text`);
    return { name, value: text, at };
  }
  const kinds = [
    ['configMapKeyRef', 'ConfigMap'],
    ['secretKeyRef', 'Secret'],
  ] as const;
  for (const [field, kind] of kinds) {
    const reference = from === undefined ? undefined : nodeAt(from, field);
    if (reference === undefined) continue;
    const refName = textAt(reference, 'name');
    const key = textAt(reference, 'key');
    if (refName === undefined || key === undefined) {
      throw manifestError(reference.at, `${field} needs a name and a key`);
    }
    const optional = readFlag(reference, 'optional');
    return { name, from: { kind, name: refName, key, optional }, at };
  }
  throw manifestError(at, `${name} needs a value, a configMapKeyRef or a secretKeyRef`);
}

function readFlag(node: LocatedNode, field: string): boolean {
  const found = nodeAt(node, field);
  if (found === undefined) return false;
  if (found.kind === 'scalar' && typeof found.value === 'boolean') return found.value;
  throw manifestError(found.at, `${field} must be true or false`);
}
