import { applyJsonPatch } from './json-patch.ts';
import { nodeAt, textAt, type LocatedMap, type LocatedNode, type Place } from './located-node.ts';
import { manifestError } from './manifest-error.ts';
import type { ManifestFiles } from './manifest-files.ts';
import { parseYaml } from './parse-yaml.ts';

const MAX_DEPTH = 16;
const MAX_MANIFESTS = 512;
const NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'] as const;
const FIELDS = new Set(['apiVersion', 'kind', 'resources', 'components', 'patches', 'images']);

/**
 * Builds a kustomization: its resources, then its components, then its patches and images, in this
 * order, as kustomize does.
 *
 * Understood are `resources`, `components`, JSON 6902 `patches` (`target` with `path` or `patch`) and
 * `images`. Every other field is an error with file and line: an overlay that a cluster would read
 * otherwise must not be half understood here. Cycles, paths out of the repository and a resource given
 * twice are refused.
 */
export async function buildKustomization(
  files: ManifestFiles,
  folder: string,
): Promise<LocatedMap[]> {
  const start: Place = { file: folder, line: 1 };
  const resolved = await files.resolve('', folder, start);
  return buildFolder({ files, open: [] }, resolved, start, [], 'Kustomization');
}

interface Build {
  readonly files: ManifestFiles;
  /** The folders being built, outermost first. */
  readonly open: readonly string[];
}

type FolderKind = 'Kustomization' | 'Component';

async function buildFolder(
  build: Build,
  folder: string,
  at: Place,
  given: readonly LocatedMap[],
  wanted: FolderKind,
): Promise<LocatedMap[]> {
  if (build.open.includes(folder)) {
    throw manifestError(at, `a cycle: ${[...build.open, folder].join(' → ')}`);
  }
  if (build.open.length >= MAX_DEPTH) {
    throw manifestError(at, `more than ${MAX_DEPTH} kustomizations inside each other`);
  }
  const inner: Build = { ...build, open: [...build.open, folder] };
  const kustomization = await readKustomization(build.files, folder, at, wanted);
  let manifests = [...given];
  for (const item of listOf(kustomization, 'resources')) {
    manifests.push(...(await readResource(inner, folder, item)));
    if (manifests.length > MAX_MANIFESTS) {
      throw manifestError(item.at, `more than ${MAX_MANIFESTS} manifests`);
    }
  }
  refuseTwins(manifests);
  for (const item of listOf(kustomization, 'components')) {
    const component = await build.files.resolve(folder, pathOf(item), item.at);
    manifests = await buildFolder(inner, component, item.at, manifests, 'Component');
  }
  for (const item of listOf(kustomization, 'patches')) {
    manifests = await patchManifests(build.files, folder, item, manifests);
  }
  for (const item of listOf(kustomization, 'images')) {
    manifests = manifests.map((manifest) => replaceImage(manifest, item) as LocatedMap);
  }
  return manifests;
}

async function readKustomization(
  files: ManifestFiles,
  folder: string,
  at: Place,
  wanted: FolderKind,
): Promise<LocatedMap> {
  for (const name of NAMES) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (!(await files.exists(path))) continue;
    const [document, second] = parseYaml(await files.read(path, at), path);
    const place: Place = { file: path, line: 1 };
    if (document?.kind !== 'map') throw manifestError(place, 'a kustomization is a map');
    if (second !== undefined) throw manifestError(second.at, 'one document a kustomization');
    for (const [field, node] of document.entries) {
      if (!FIELDS.has(field)) {
        const detail = `kustomization field "${field}" is not understood by the local cluster`;
        throw manifestError(node.at, detail);
      }
    }
    const kind = textAt(document, 'kind') ?? 'Kustomization';
    if (kind !== wanted) throw manifestError(place, `kind is "${kind}" where ${wanted} is needed`);
    return document;
  }
  throw manifestError(at, `${folder} has no kustomization.yaml`);
}

function listOf(map: LocatedMap, field: string): readonly LocatedNode[] {
  const node = map.entries.get(field);
  if (node === undefined) return [];
  if (node.kind !== 'list') throw manifestError(node.at, `${field} must be a list`);
  return node.items;
}

function pathOf(node: LocatedNode): string {
  if (node.kind === 'scalar' && typeof node.value === 'string') return node.value;
  throw manifestError(node.at, 'a path is needed here');
}

async function readResource(
  build: Build,
  folder: string,
  item: LocatedNode,
): Promise<LocatedMap[]> {
  const path = await build.files.resolve(folder, pathOf(item), item.at);
  if (await build.files.isFolder(path)) {
    return buildFolder(build, path, item.at, [], 'Kustomization');
  }
  return parseYaml(await build.files.read(path, item.at), path).map((document) => {
    if (document.kind !== 'map') throw manifestError(document.at, 'a manifest is a map');
    for (const field of ['apiVersion', 'kind'] as const) {
      if (textAt(document, field) === undefined) {
        throw manifestError(document.at, `the manifest has no ${field}`);
      }
    }
    if (textAt(document, 'metadata', 'name') === undefined) {
      throw manifestError(document.at, 'the manifest has no metadata.name');
    }
    return document;
  });
}

/** `group/kind/namespace/name`, by which a manifest is known. */
export function manifestKey(manifest: LocatedNode): string {
  const apiVersion = textAt(manifest, 'apiVersion') ?? '';
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  const namespace = textAt(manifest, 'metadata', 'namespace') ?? '';
  const name = textAt(manifest, 'metadata', 'name') ?? '';
  return `${group}/${textAt(manifest, 'kind') ?? ''}/${namespace}/${name}`;
}

function refuseTwins(manifests: readonly LocatedMap[]): void {
  const seen = new Map<string, LocatedMap>();
  for (const manifest of manifests) {
    const key = manifestKey(manifest);
    const twin = seen.get(key);
    if (twin !== undefined) {
      const first = `${twin.at.file}:${twin.at.line}`;
      throw manifestError(manifest.at, `${key} is given twice, first in ${first}`);
    }
    seen.set(key, manifest);
  }
}

const TARGET_FIELDS = new Set(['group', 'version', 'kind', 'name', 'namespace', 'labelSelector']);

async function patchManifests(
  files: ManifestFiles,
  folder: string,
  item: LocatedNode,
  manifests: readonly LocatedMap[],
): Promise<LocatedMap[]> {
  if (item.kind !== 'map') throw manifestError(item.at, 'a patch is a map');
  for (const [field, node] of item.entries) {
    if (!['target', 'path', 'patch'].includes(field)) {
      throw manifestError(node.at, `patch field "${field}" is not understood`);
    }
  }
  const target = nodeAt(item, 'target');
  if (target?.kind !== 'map') throw manifestError(item.at, 'a JSON 6902 patch needs a target');
  const patch = await readPatch(files, folder, item);
  const selects = targetTest(target);
  let hits = 0;
  const patched = manifests.map((manifest) => {
    if (!selects(manifest)) return manifest;
    hits += 1;
    const result = applyJsonPatch(manifest, patch);
    if (result.kind !== 'map') throw manifestError(patch.at, 'the patch leaves no manifest');
    return result;
  });
  // A patch without a target would silently do nothing: most often a misspelt name.
  if (hits === 0) throw manifestError(target.at, 'no manifest matches this target');
  return patched;
}

async function readPatch(
  files: ManifestFiles,
  folder: string,
  item: LocatedMap,
): Promise<LocatedNode> {
  const path = nodeAt(item, 'path');
  const inline = nodeAt(item, 'patch');
  if ((path === undefined) === (inline === undefined)) {
    throw manifestError(item.at, 'give either path or patch');
  }
  let documents: LocatedNode[];
  if (path !== undefined) {
    const file = await files.resolve(folder, pathOf(path), path.at);
    documents = parseYaml(await files.read(file, path.at), file);
  } else {
    const node = inline as LocatedNode;
    const text = textAt(item, 'patch');
    if (text === undefined) throw manifestError(node.at, 'an inline patch is text (patch: |-)');
    documents = parseYaml(text, node.at.file, node.at.line + 1);
  }
  const [document, second] = documents;
  if (document === undefined || second !== undefined) {
    throw manifestError(item.at, 'a patch has exactly one document');
  }
  if (document.kind !== 'list') {
    throw manifestError(document.at, 'only JSON 6902 patches (a list of operations) are applied');
  }
  return document;
}

/** Name, kind … are whole-match regular expressions, as kustomize has them. */
function targetTest(target: LocatedMap): (manifest: LocatedMap) => boolean {
  const tests: ((manifest: LocatedMap) => boolean)[] = [];
  for (const [field, node] of target.entries) {
    if (!TARGET_FIELDS.has(field) || node.kind !== 'scalar' || typeof node.value !== 'string') {
      throw manifestError(node.at, `target field "${field}" is not understood`);
    }
    const { value } = node;
    if (field === 'labelSelector') {
      const wanted = value.split(',').map((term) => /^([^=!,\s]+)=([^=!,\s]*)$/.exec(term.trim()));
      tests.push((manifest) =>
        wanted.every((term) => {
          if (term === null) throw manifestError(node.at, 'use labelSelector: name=value');
          return textAt(manifest, 'metadata', 'labels', term[1] ?? '') === term[2];
        }),
      );
      continue;
    }
    const pattern = wholeMatch(value, node.at);
    tests.push((manifest) => pattern.test(targetField(manifest, field)));
  }
  return (manifest) => tests.every((test) => test(manifest));
}

function wholeMatch(text: string, at: Place): RegExp {
  try {
    return new RegExp(`^(?:${text})$`);
  } catch (cause) {
    throw manifestError(at, `"${text}" is not a regular expression`, cause);
  }
}

function targetField(manifest: LocatedMap, field: string): string {
  const apiVersion = textAt(manifest, 'apiVersion') ?? '';
  const slash = apiVersion.indexOf('/');
  switch (field) {
    case 'group':
      return slash < 0 ? '' : apiVersion.slice(0, slash);
    case 'version':
      return apiVersion.slice(slash + 1);
    case 'kind':
      return textAt(manifest, 'kind') ?? '';
    default:
      return textAt(manifest, 'metadata', field) ?? '';
  }
}

/** Replaces name, tag or digest of every `image:` whose name equals the entry's. */
function replaceImage(node: LocatedNode, entry: LocatedNode): LocatedNode {
  if (entry.kind !== 'map') throw manifestError(entry.at, 'an image is a map');
  for (const [field, value] of entry.entries) {
    if (!['name', 'newName', 'newTag', 'digest'].includes(field)) {
      throw manifestError(value.at, `image field "${field}" is not understood`);
    }
  }
  const name = textAt(entry, 'name');
  if (name === undefined) throw manifestError(entry.at, 'an image needs a name');
  const visit = (current: LocatedNode): LocatedNode => {
    if (current.kind === 'list') return { ...current, items: current.items.map(visit) };
    if (current.kind !== 'map') return current;
    const entries = new Map<string, LocatedNode>();
    for (const [key, child] of current.entries) {
      const image = key === 'image' ? textAt(current, key) : undefined;
      entries.set(key, image === undefined ? visit(child) : imageNode(child, image, name, entry));
    }
    return { ...current, entries };
  };
  return visit(node);
}

function imageNode(
  node: LocatedNode,
  image: string,
  name: string,
  entry: LocatedNode,
): LocatedNode {
  const parts = /^(.*?)(?::([\w][\w.-]*))?(?:@(sha256:[0-9a-f]+))?$/.exec(image);
  if (parts?.[1] !== name) return node;
  const newName = textAt(entry, 'newName') ?? name;
  const tag = textAt(entry, 'newTag');
  const digest = textAt(entry, 'digest');
  const suffix =
    digest !== undefined
      ? `@${digest}`
      : tag !== undefined
        ? `:${tag}`
        : image.slice((parts[1] ?? '').length);
  return { kind: 'scalar', value: newName + suffix, at: entry.at };
}
