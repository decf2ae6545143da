import { expect, test } from 'vitest';
import { importsOf } from './imports.ts';
import { LAYERS, SINGLE_IMPORTERS, type Layer } from './layers.ts';
import { sourceFiles, type SourceFile } from './source-files.ts';

/** A test stands outside the layers: it may take any part to try its own. */
const isTest = (path: string): boolean =>
  /\.(test|contract)\.ts$|(^|\/)testing\//.test(path) || !path.includes('/');

const layerOf = (path: string): Layer | undefined =>
  LAYERS.find((layer) => path.startsWith(layer.folder));

const isPath = (target: string): boolean =>
  /^(functions|eventing|infra|loadtest|cli|bin)\//.test(target);

/** What a file imports against the table, one sentence each. */
function violations(file: SourceFile): string[] {
  const layer = layerOf(file.path);
  if (layer === undefined) return [`${file.path} lies in no folder of infra/checks/layers.ts`];
  const found: string[] = [];
  for (const target of importsOf(file)) {
    if (isPath(target)) {
      const allowed = [layer.folder, ...layer.may].some((folder) => target.startsWith(folder));
      if (!allowed) found.push(`${file.path} may not import ${target}`);
    } else if (layer.pure === true) {
      found.push(`${file.path} is pure and may not import ${target}`);
    }
    for (const [module, places] of SINGLE_IMPORTERS) {
      if (module.test(target) && !places.some((place) => place.test(file.path))) {
        found.push(`${file.path} may not import ${target}`);
      }
    }
  }
  return found;
}

const files = sourceFiles(/\.(ts|js)$/).filter(({ path }) => !isTest(path));

test('every file imports only what its layer may', () => {
  expect(files.length).toBeGreaterThan(80);
  expect(files.flatMap(violations)).toEqual([]);
});

test.each([
  ['functions/export/x.ts', "import { a } from '#functions/campaign/function.ts';"],
  ['functions/kernel/core/x.ts', "import type { A } from '../system/log.ts';"],
  ['functions/kernel/core/x.ts', "import { readFile } from 'node:fs';"],
  ['functions/campaign/x.ts', "import { connect } from '@nats-io/transport-node';"],
  ['infra/local/x.ts', "import { a } from '#functions/export/function.ts';"],
  ['eventing/broker/x.ts', "export { a } from '#loadtest/vehicles/vehicle.ts';"],
  ['functions/export/x.ts', "const a = await import('mongodb');"],
  ['elsewhere/x.ts', ''],
])('violations finds the planted one in %s', (path, text) => {
  expect(violations({ path, text })).toHaveLength(1);
});

test('every stage has its folder, its process and its manifest', () => {
  for (const stage of [
    'campaign',
    'device-communication',
    'data-provider',
    'data-processing',
    'export',
  ]) {
    const inFolder = sourceFiles(new RegExp(`^functions/${stage}/[^/]+$`)).map(({ path }) =>
      path.split('/').at(-1),
    );
    expect(inFolder).toEqual(
      expect.arrayContaining(['function.ts', 'main.ts', 'service.yaml', 'kustomization.yaml']),
    );
  }
});
