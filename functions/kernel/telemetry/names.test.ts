import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { expect, test } from 'vitest';
import { ATTRIBUTE } from './names.ts';

const known: ReadonlySet<unknown> = new Set(
  Object.entries(conventions)
    .filter(([name]) => name.startsWith('ATTR_'))
    .map(([, value]) => value),
);

test.each(Object.entries(ATTRIBUTE))('attribute %s: %s is a convention, or our own', (_, name) => {
  expect(known.has(name) || name.startsWith('tachograph.')).toBe(true);
});

test('an attribute that no convention has is noticed', () => {
  expect(known.has('cloudevents.event_id')).toBe(true);
  expect(known.has('cloudevents.id')).toBe(false);
});
