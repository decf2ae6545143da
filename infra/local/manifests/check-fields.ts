import { nearestNames } from '#kernel/core/nearest-names.ts';
import type { KindFields } from './field-table.ts';
import { textAt, type LocatedMap, type LocatedNode } from './located-node.ts';
import { manifestError } from './manifest-error.ts';

/**
 * Sorts a manifest's fields into the classes of its kind and returns those that have no effect here.
 *
 * Throws MANIFEST_INVALID at the first kind, apiVersion or field that the table does not know: a field
 * that is silently ignored would make the local cluster lie about what a real one does.
 */
export function checkFields(
  manifest: LocatedMap,
  table: Readonly<Record<string, KindFields>>,
): string[] {
  const kind = textAt(manifest, 'kind') ?? '';
  const version = textAt(manifest, 'apiVersion') ?? '';
  // Two groups may have a kind of one name: Knative's Service and the core's.
  const row = [`${kind} ${version}`, kind].find((name) => Object.hasOwn(table, name));
  const fields = row === undefined ? undefined : table[row];
  if (fields === undefined) {
    const known = Object.keys(table)
      .filter((name) => !name.includes(' '))
      .join(', ');
    throw manifestError(manifest.at, `kind "${kind}" is not known here; known: ${known}`);
  }
  if (version !== fields.apiVersion) {
    const rows = Object.entries(table).filter(([name]) => name.split(' ')[0] === kind);
    const read = rows.map(([, { apiVersion }]) => apiVersion).join(', ');
    const detail = `${kind} of apiVersion "${version}"; only ${read} ${rows.length > 1 ? 'are' : 'is'} read`;
    throw manifestError(manifest.at, detail);
  }
  const rules: Rule[] = [
    ...fields.honoured.map((path) => ({ path: path.split(' '), inert: false })),
    ...fields.inert.map((path) => ({ path: path.split(' '), inert: true })),
  ];
  const inert = new Set<string>();
  visit(manifest, [], rules, kind, inert);
  return [...inert];
}

/** `spec.containers[].image`. */
const pathText = (trail: readonly string[]): string => trail.join('.').replaceAll('.[]', '[]');

interface Rule {
  readonly path: readonly string[];
  readonly inert: boolean;
}

/** `rules` are those that still match after `trail`, which is as long as what they have consumed. */
function visit(
  node: LocatedNode,
  trail: readonly string[],
  rules: readonly Rule[],
  kind: string,
  inert: Set<string>,
): void {
  const depth = trail.length;
  const whole = rules.find((rule) => rule.path[depth] === '**' || rule.path.length === depth);
  if (whole !== undefined && (whole.path[depth] === '**' || node.kind === 'scalar')) {
    if (whole.inert) inert.add(`${kind} ${pathText(trail)}`);
    return;
  }
  if (whole !== undefined) {
    throw manifestError(node.at, `${pathText(trail)} of a ${kind} must be a plain value`);
  }
  if (node.kind === 'scalar') {
    // "annotations:" with nothing below is an empty map.
    if (node.value === null) return;
    throw manifestError(node.at, `${pathText(trail)} of a ${kind} must hold further fields`);
  }
  const children: (readonly [string, LocatedNode])[] =
    node.kind === 'map' ? [...node.entries] : node.items.map((item) => ['[]', item] as const);
  for (const [name, child] of children) {
    const path = [...trail, name];
    const left = rules.filter((rule) => matches(rule.path[depth], name, node.kind));
    if (left.length === 0) {
      const known = rules.flatMap((rule) => rule.path[depth] ?? []);
      const detail = `field ${pathText(path)} of a ${kind} is not known to the local cluster`;
      throw manifestError(child.at, detail + hint(name, known));
    }
    visit(child, path, left, kind, inert);
  }
}

/** The known name that was most likely meant. One group alone: its long prefix makes all of it alike. */
function hint(name: string, known: readonly string[]): string {
  const group = name.slice(0, name.lastIndexOf('/') + 1);
  const names = known.filter((one) => one.startsWith(group)).map((one) => one.slice(group.length));
  const [nearest] = nearestNames(name.slice(group.length), new Set(names), 1);
  return nearest === undefined ? '' : `; did you mean ${group}${nearest}?`;
}

const matches = (segment: string | undefined, name: string, kind: 'map' | 'list'): boolean =>
  kind === 'list' ? segment === '[]' : segment === '*' || (segment === name && name !== '[]');
