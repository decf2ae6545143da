import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ANNOTATIONS, GROUP, type AnnotationRow } from './annotation-keys.ts';
import { CONFIG_KEYS, type ConfigKeyRow } from './config-keys.ts';

const doc = await readFile('docs/autoscaling.md', 'utf8');

const code = (text: string | null): string => (text === null ? '' : `\`${text}\``);
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

const otherwise = (row: AnnotationRow): string =>
  'config' in row.otherwise ? code(row.otherwise.config) : row.otherwise.text;

const annotations = table(
  ['annotation', 'allowed', 'without it', 'read by', 'also'],
  Object.entries<AnnotationRow>(ANNOTATIONS).map(([name, row]) => [
    code(name),
    row.allowed,
    otherwise(row),
    row.classes === 'all' ? 'kpa, hpa' : row.classes,
    code(row.alias),
  ]),
);

const configKeys = table(
  ['key', 'default', 'allowed', 'annotation'],
  Object.entries<ConfigKeyRow>(CONFIG_KEYS).map(([name, row]) => [
    code(name),
    code(row.default),
    row.allowed,
    code(row.annotation),
  ]),
);

test.each([
  ['annotations', annotations],
  ['keys of the ConfigMap', configKeys],
])('docs/autoscaling.md has the table of %s as the program reads them', (_, rows) => {
  // Whole, so that a row too many is found as well; on a difference paste what is expected.
  const title = rows.slice(0, rows.indexOf('\n'));
  const start = doc.indexOf(title);
  const end = doc.indexOf('\n\n', start);
  expect(`${doc.slice(start, end)}\n`).toBe(rows);
});

test('every key that an annotation or a ConfigMap names is known', () => {
  const names = Object.keys(ANNOTATIONS);
  for (const { annotation } of Object.values<ConfigKeyRow>(CONFIG_KEYS)) {
    if (annotation !== null) expect(names).toContain(annotation);
  }
});

test('every annotation that the page names is known', () => {
  const named = [...doc.matchAll(new RegExp(`${GROUP}/([A-Za-z-]+)`, 'g'))].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !Object.hasOwn(ANNOTATIONS, name ?? ''))).toEqual([]);
});
