import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { expect, test } from 'vitest';
import { METRIC, METRIC_ATTRIBUTE } from './metric-names.ts';

const valuesOf = (prefix: string): ReadonlySet<unknown> =>
  new Set(
    Object.entries(conventions)
      .filter(([name]) => name.startsWith(prefix))
      .map(([, value]) => value),
  );
const metrics = valuesOf('METRIC_');
const attributes = valuesOf('ATTR_');

test.each(Object.values(METRIC))('$name is a convention, or our own', ({ name }) => {
  expect(metrics.has(name) || name.startsWith('tachograph.')).toBe(true);
});

test.each(Object.values(METRIC_ATTRIBUTE))('attribute %s is a convention, or our own', (name) => {
  // The last one is the SDK's, of its specification and not of the conventions.
  const isKnown = attributes.has(name) || name === METRIC_ATTRIBUTE.overflow;
  expect(isKnown || name.startsWith('tachograph.')).toBe(true);
});

test('a metric that no convention has is noticed', () => {
  expect(metrics.has('http.server.request.duration')).toBe(true);
  expect(metrics.has('http.server.duration.ms')).toBe(false);
});
