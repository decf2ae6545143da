import { expect, test } from 'vitest';
import { numberOption } from './number-option.ts';

const whole = { min: 1, max: 10, integer: true };

test('numberOption not given is the default, given is the number', () => {
  expect(numberOption('n', undefined, 3, whole)).toBe(3);
  expect(numberOption('n', '10', 3, whole)).toBe(10);
  expect(numberOption('n', '2.5', 3, { ...whole, integer: false })).toBe(2.5);
});

test.each(['0', '11', '2.5', '-1', '1e3', 'x', ''])('numberOption refuses %j', (text) => {
  expect(() => numberOption('n', text, 3, whole)).toThrow(
    `--n = "${text}" is not valid: use an integer from 1 to 10`,
  );
});
