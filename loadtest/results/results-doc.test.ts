import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import * as files from './result-folder.ts';
import schema from './summary.schema.json' with { type: 'json' };
import {
  exampleLoadRecords,
  exampleRecords,
  exampleScaledRecords,
} from './testing/example-records.ts';

const doc = await readFile('docs/results.md', 'utf8');

/** Names of all properties anywhere in a JSON Schema, described or only required. */
function propertyNames(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { properties = {}, required } = node as {
    properties?: Record<string, unknown>;
    required?: readonly string[];
  };
  const own = [...Object.keys(properties), ...(Array.isArray(required) ? required : [])];
  return [...own, ...Object.values(node).flatMap(propertyNames)];
}

const isNamed = (name: string): boolean => new RegExp(`[\`.{ ]${name}[\`,} ]`).test(doc);

test('docs/results.md names every field of the summary', () => {
  const names = [...new Set(propertyNames(schema))];
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !isNamed(name))).toEqual([]);
});

test('docs/results.md names every file of a result folder', () => {
  const names = Object.values(files).filter((value) => typeof value === 'string');
  expect(names).toContain('summary.json');
  expect(names.filter((name) => !doc.includes(`\`${name}`))).toEqual([]);
});

test('docs/results.md names every field of the raw files', () => {
  const { config, run, records } = exampleRecords();
  const load = exampleLoadRecords();
  const demands = Object.values(load.config.demands);
  const { load: asked } = load.config;
  const { stage, instance, n, endedAtMs } = must(load.bursts[0], 'a burst');
  const scaled = exampleScaledRecords();
  const { experiment, scaledBy = [], load: step } = scaled.config;
  const { replicas = [], coldStarts = [], samples = [] } = scaled.scaling ?? {};
  const objects = [
    scaled.config,
    scaled.run,
    must(scaled.run.measured, 'the measured span'),
    step.arrivals,
    must(experiment, 'the experiment'),
    must(experiment?.load, 'its load'),
    ...scaledBy,
    ...replicas,
    ...coldStarts,
    ...samples,
    ...samples.flatMap((sample) => sample.replicas),
    config,
    config.drive,
    config.campaign,
    run,
    ...records.slice(0, 1),
    load.config,
    asked,
    asked.arrivals,
    ...demands,
    load.run,
    { stage, instance, n, endedAtMs, emulated: true },
  ];
  const names = objects.flatMap((object) => Object.keys(object));
  expect(names.filter((name) => !isNamed(name))).toEqual([]);
});
