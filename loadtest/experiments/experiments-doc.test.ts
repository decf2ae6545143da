import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import schema from './experiment.schema.json' with { type: 'json' };
import { readExperiment } from './read-experiment.ts';

const doc = await readFile('docs/experiments.md', 'utf8');
const files = (await readdir('loadtest/experiments')).filter((name) => name.endsWith('.yaml'));

function propertyNames(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { properties = {} } = node as { properties?: object };
  return [...Object.keys(properties), ...Object.values(node).flatMap(propertyNames)];
}

test('docs/experiments.md names every field of an experiment', () => {
  const names = [...new Set(propertyNames(schema))];
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !new RegExp(`[\`.]${name}\``).test(doc))).toEqual([]);
});

test.each(files)('%s can be read, asks a question and is known to editors', async (file) => {
  const text = await readFile(`loadtest/experiments/${file}`, 'utf8');
  expect(readExperiment(text, file).question).toMatch(/\?$/);
  expect(text.startsWith('# yaml-language-server: $schema=./experiment.schema.json\n')).toBe(true);
});
