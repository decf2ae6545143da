import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { buildKustomization } from './kustomize.ts';
import { plainValue } from './located-node.ts';
import { manifestFiles } from './manifest-files.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function repository(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'tachograph-kustomize-'));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

async function build(files: Readonly<Record<string, string>>, folder = 'top'): Promise<unknown[]> {
  const built = await buildKustomization(await manifestFiles(repository(files)), folder);
  return built.map((manifest) => JSON.parse(JSON.stringify(plainValue(manifest))) as unknown);
}

const service = (name: string, image = 'dev.local/a:dev'): string =>
  `apiVersion: v1\nkind: Thing\nmetadata: {name: ${name}, labels: {part: x}}\nimage: ${image}\n`;

const thing = (name: string, fields: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, labels: { part: 'x' } },
  image: 'dev.local/a:dev',
  ...fields,
});

test('buildKustomization applies resources, components, patches and images in this order', async () => {
  const built = await build({
    'top/kustomization.yaml': `
resources: [../base, extra.yaml]
components: [../part]
patches:
  - target: {kind: Thing, name: one}
    patch: |-
      - {op: test, path: /step, value: component}
      - {op: replace, path: /step, value: overlay}
images:
  - {name: dev.local/a, newName: registry/b, newTag: "7"}
`,
    'top/extra.yaml': `${service('two')}---\n${service('three', 'other:1')}`,
    'base/kustomization.yaml': 'resources: [one.yaml]\n',
    'base/one.yaml': service('one'),
    'part/kustomization.yaml': `
kind: Component
patches:
  - target: {labelSelector: part=x, name: o.*}
    path: step.yaml
`,
    'part/step.yaml': '- {op: add, path: /step, value: component}\n',
  });
  expect(built).toEqual([
    thing('one', { step: 'overlay', image: 'registry/b:7' }),
    thing('two', { image: 'registry/b:7' }),
    thing('three', { image: 'other:1' }),
  ]);
});

test('buildKustomization matches a target as a whole, not in part', async () => {
  const patch = (name: string): string =>
    `resources: [a.yaml]\npatches:\n  - target: {name: ${name}}\n    patch: "[]"\n`;
  const files = { 'top/a.yaml': service('one') };
  await expect(build({ ...files, 'top/kustomization.yaml': patch('one') })).resolves.toHaveLength(
    1,
  );
  await expect(build({ ...files, 'top/kustomization.yaml': patch('on') })).rejects.toThrow(
    'top/kustomization.yaml:3: no manifest matches this target',
  );
});

test.each([
  [
    'an unknown field',
    { 'top/kustomization.yaml': 'resources: []\nnamePrefix: x-\n' },
    'kustomization.yaml:2: kustomization field "namePrefix" is not understood',
  ],
  [
    'a missing file',
    { 'top/kustomization.yaml': 'resources:\n  - nothing.yaml\n' },
    'kustomization.yaml:2: "nothing.yaml" does not exist',
  ],
  [
    'a path out of the repository',
    { 'top/kustomization.yaml': 'resources: [../../../../../../etc/hostname]\n' },
    /leads out of the repository|does not exist/,
  ],
  [
    'an absolute path',
    { 'top/kustomization.yaml': 'resources: [/etc/hostname]\n' },
    'only paths inside the repository',
  ],
  [
    'a URL',
    { 'top/kustomization.yaml': 'resources: ["https://example.org/x"]\n' },
    'only paths inside the repository',
  ],
  [
    'a cycle',
    {
      'top/kustomization.yaml': 'resources: [../a]\n',
      'a/kustomization.yaml': 'resources: [../top]\n',
    },
    'a cycle: top → a → top',
  ],
  [
    'a resource given twice',
    {
      'top/kustomization.yaml': 'resources: [a.yaml, b.yaml]\n',
      'top/a.yaml': service('one'),
      'top/b.yaml': service('one'),
    },
    'top/b.yaml:1: /Thing//one is given twice, first in top/a.yaml:1',
  ],
  [
    'a manifest without a kind',
    {
      'top/kustomization.yaml': 'resources: [a.yaml]\n',
      'top/a.yaml': 'apiVersion: v1\nmetadata: {name: x}\n',
    },
    'top/a.yaml:1: the manifest has no kind',
  ],
  [
    'a manifest without a name',
    {
      'top/kustomization.yaml': 'resources: [a.yaml]\n',
      'top/a.yaml': 'apiVersion: v1\nkind: X\n',
    },
    'no metadata.name',
  ],
  [
    'a strategic merge patch',
    {
      'top/kustomization.yaml':
        'resources: [a.yaml]\npatches:\n  - target: {name: one}\n    patch: |-\n      a: 1\n',
      'top/a.yaml': service('one'),
    },
    'kustomization.yaml:5: only JSON 6902 patches',
  ],
  [
    'a patch that fails',
    {
      'top/kustomization.yaml':
        'resources: [a.yaml]\npatches:\n  - target: {name: one}\n    path: p.yaml\n',
      'top/a.yaml': service('one'),
      'top/p.yaml': '- op: add\n  path: /x\n  value: 1\n- op: remove\n  path: /y\n',
    },
    'top/p.yaml:4: there is no /y to patch',
  ],
  [
    'a component among the resources',
    {
      'top/kustomization.yaml': 'resources: [../c]\n',
      'c/kustomization.yaml': 'kind: Component\n',
    },
    'kind is "Component" where Kustomization is needed',
  ],
  [
    'a folder without kustomization',
    { 'top/kustomization.yaml': 'resources: [../c]\n', 'c/x.yaml': '' },
    'c has no kustomization.yaml',
  ],
  [
    'an unknown image field',
    {
      'top/kustomization.yaml': 'resources: [a.yaml]\nimages: [{name: a, tag: b}]\n',
      'top/a.yaml': service('one'),
    },
    'image field "tag" is not understood',
  ],
] as const)('buildKustomization with %s throws with file and line', async (_, files, message) => {
  await expect(build(files)).rejects.toThrow(message);
});

test('buildKustomization refuses a symbolic link that leads out of the repository', async () => {
  const root = repository({ 'top/kustomization.yaml': 'resources: [link.yaml]\n' });
  const outside = repository({ 'secret.yaml': service('secret') });
  symlinkSync(join(outside, 'secret.yaml'), join(root, 'top/link.yaml'));
  await expect(buildKustomization(await manifestFiles(root), 'top')).rejects.toThrow(
    '"link.yaml" leads out of the repository',
  );
});

test('buildKustomization at the depth limit builds, one level more is refused', async () => {
  const chain = (levels: number): Record<string, string> => {
    const files: Record<string, string> = { 'top/kustomization.yaml': 'resources: [../k1]\n' };
    for (let level = 1; level < levels; level++) {
      const next = level + 1 < levels ? `[../k${level + 1}]` : '[]';
      files[`k${level}/kustomization.yaml`] = `resources: ${next}\n`;
    }
    return files;
  };
  await expect(build(chain(16))).resolves.toEqual([]);
  await expect(build(chain(17))).rejects.toThrow('more than 16 kustomizations');
});

test('buildKustomization at the limit of manifests builds, one more is refused', async () => {
  const many = (count: number): Record<string, string> => ({
    'top/kustomization.yaml': 'resources: [a.yaml]\n',
    'top/a.yaml': Array.from({ length: count }, (_, index) => service(`n${index}`)).join('---\n'),
  });
  await expect(build(many(512))).resolves.toHaveLength(512);
  await expect(build(many(513))).rejects.toThrow('more than 512 manifests');
});
