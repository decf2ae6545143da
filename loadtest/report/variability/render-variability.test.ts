import { expect, test } from 'vitest';
import { summarizeVariability } from '#loadtest/variability/summarize-variability.ts';
import { exampleStudy, exampleVariability } from '#loadtest/variability/testing/example-study.ts';
import type { VariabilityRecords } from '#loadtest/variability/variability-records.ts';
import { renderVariability } from './render-variability.ts';

const render = (records: VariabilityRecords): string =>
  renderVariability(records, summarizeVariability(records));

test('renderVariability of a whole study: as pinned', async () => {
  await expect(render(exampleVariability())).toMatchFileSnapshot('../golden/variability.html');
});

test('renderVariability: loads nothing from anywhere, and has no figure that is none', () => {
  const text = render(exampleVariability());
  expect(text).not.toMatch(/<(script|link|img|iframe)|@import|url\(|src=|href=/);
  expect(text).toContain(`default-src 'none'`);
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
});

test('renderVariability where nothing is enforced: says so at the top', () => {
  const records = exampleVariability();
  const enforcement = { enforced: false, cgroup: null, detail: 'no permission' };
  const text = render({ ...records, run: { ...records.run, enforcement } });
  expect(text.indexOf('Not enforced')).toBeGreaterThan(0);
  expect(text.indexOf('Not enforced')).toBeLessThan(text.indexOf('<main>'));
  expect(text).toContain('nothing enforced them');
});

test('renderVariability of three equal nodes: no correlation, no power, in words', () => {
  const nodes = exampleStudy().nodes.slice(0, 3);
  const study = exampleStudy({ nodes: nodes.map((node) => ({ ...node, neighbours: 0 })) });
  const text = render(exampleVariability(study));
  expect(text).toContain('all nodes were equally busy');
  expect(text).toContain('3 nodes are too few');
});

test('renderVariability of four nodes: no order can be significant', () => {
  const study = exampleStudy({ nodes: exampleStudy().nodes.slice(0, 4) });
  expect(render(exampleVariability(study))).toContain('No order of so few nodes');
});

test('renderVariability of one execution alone: problems first, and a page all the same', () => {
  const whole = exampleVariability();
  const run = { ...whole.run, interrupted: true };
  const text = render({
    ...whole,
    run,
    executions: whole.executions.slice(0, 1),
    bursts: whole.bursts.slice(0, 12),
  });
  expect(text.indexOf('<h2>Problems</h2>')).toBeLessThan(text.indexOf('How long the demands'));
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
});

test('renderVariability with hostile names: none of them becomes markup', () => {
  const hostile = '<img src=x onerror=alert(1)>';
  const nodes = exampleStudy().nodes.map((node, index) => ({
    ...node,
    name: `${hostile}${index}`,
  }));
  const records = exampleVariability(exampleStudy({ nodes }));
  const run = { ...records.run, problems: [hostile] };
  const environment = { ...records.environment, cpuModel: hostile };
  const text = render({ ...records, run, environment });
  expect(text).not.toContain('<img');
  expect(text).toContain('&lt;img');
});
