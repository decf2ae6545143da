import { expect, test } from 'vitest';
import { ERRORS, errorBody, TachographError } from './errors.ts';

test('TachographError fills the fields in and keeps them', () => {
  const error = new TachographError('ID_NUMBER_INVALID', { what: 'window', value: -1, max: 9 });
  expect(error.message).toBe('The window -1 is out of range; it must be an integer from 0 to 9');
  expect(errorBody(error).error).toMatchObject({ code: 'ID_NUMBER_INVALID', value: -1, max: 9 });
});

test('TachographError shows control characters of a hostile value and cuts its length', () => {
  const value = `\u0000\u001b[31m${'x'.repeat(300)}`;
  const { message } = new TachographError('STORE_URL_INVALID', { value });
  expect(message).not.toContain('\u001b');
  expect(message.length).toBeLessThan(320);
});

test.each(Object.entries(ERRORS))('%s has a fitting status and a sentence', (_, row) => {
  const expected = { reject: [400, 503], retry: [429, 504], bug: [500, 503] }[row.kind];
  expect(row.status).toBeGreaterThanOrEqual(expected[0] ?? 0);
  expect(row.status).toBeLessThanOrEqual(expected[1] ?? 0);
  expect(row.message).not.toBe('');
});
