import { expect, test } from 'vitest';
import { checkAnswer, customDecision } from './custom-policy.ts';

const CYCLE: Record<string, unknown> = {};
CYCLE['self'] = CYCLE;

test('checkAnswer takes the least a policy can say', () => {
  expect(checkAnswer('p.ts', { desired: 2 })).toEqual({
    desired: 2,
    state: undefined,
    reason: '',
    details: {},
  });
  expect(checkAnswer('p.ts', { desired: null }).desired).toBeNull();
});

test.each([
  ['nothing', undefined, 'it returned undefined and not an object'],
  ['a number', 3, 'it returned 3 and not an object'],
  ['a list', [3], 'it returned [3] and not an object'],
  ['no desired', {}, 'it wants undefined replicas'],
  ['NaN', { desired: Number.NaN }, 'it wants NaN replicas'],
  ['a fraction', { desired: 1.5 }, 'it wants 1.5 replicas'],
  ['less than none', { desired: -1 }, 'it wants -1 replicas'],
  [
    'too many',
    { desired: 257 },
    'it wants 257 replicas; "desired" must be an integer from 0 to 256',
  ],
  ['a bigint', { desired: 1n }, 'it wants 1 replicas'],
  ['a bigint inside', { desired: 1, details: { a: 1n } }, 'its detail "a" is 1'],
  ['a cycle', { desired: CYCLE }, 'it wants an object that is no plain data replicas'],
  ['text', { desired: '2' }, 'it wants "2" replicas'],
  ['a reason that is no text', { desired: 1, reason: 7 }, 'its reason is 7 and not text'],
  ['details that are no object', { desired: 1, details: 'x' }, 'its details are "x"'],
  ['a nested detail', { desired: 1, details: { a: {} } }, 'its detail "a" is {}'],
  [
    'too many details',
    { desired: 1, details: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`d${i}`, i])) },
    'it gives 33 details; at most 32 are kept',
  ],
])('checkAnswer of %s says what is wrong', (_, answer, message) => {
  expect(() => checkAnswer('p.ts', answer)).toThrow(message);
  expect(() => checkAnswer('p.ts', answer)).toThrow('The policy p.ts gave no decision');
});

test('customDecision keeps the wish within the bounds and names the one that acted', () => {
  const answer = { desired: 9, state: undefined, reason: '', details: {} };
  expect(customDecision(answer, { min: 0, max: 4 })).toMatchObject({
    desired: 4,
    wanted: 9,
    limits: ['max-scale'],
    reason: 'the policy wants 9',
  });
  expect(customDecision({ ...answer, desired: 0 }, { min: 2, max: null })).toMatchObject({
    desired: 2,
    limits: ['min-scale'],
  });
  expect(customDecision({ ...answer, desired: null }, { min: 2, max: 4 })).toMatchObject({
    desired: null,
    limits: [],
  });
});
