import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ATTRIBUTE } from '../names.ts';
import { METRIC } from './metric-names.ts';

const metrics = readFileSync('docs/metrics-endpoint.md', 'utf8');
const tracing = readFileSync('docs/tracing.md', 'utf8');

test.each(Object.values(METRIC))(
  'docs/metrics-endpoint.md has $name with its kind and unit',
  ({ name, kind, unit }) => {
    const kindText = kind === 'upDown' ? 'up-down counter' : kind;
    expect(metrics).toContain(`| \`${name}\` | ${kindText} | ${unit} |`);
  },
);

/** `cloudevents.event_source` may stand as `event_source` behind the first of its family. */
const isNamed = (name: string): boolean =>
  tracing.includes(name) ||
  tracing.includes(
    `\`${name.replace(/^(cloudevents|tachograph\.delivery|tachograph)\.?/, '')}\``,
  ) ||
  tracing.includes(`\`.${name.split('.').at(-1)}\``);

test.each(Object.values(ATTRIBUTE))('docs/tracing.md has the attribute %s', (name) => {
  expect(isNamed(name)).toBe(true);
});
