import { expect, test } from 'vitest';
import type { CredentialFact } from './facts.ts';
import type { TokenVerdict } from './vehicle-token.ts';
import { judgeToken, vehicleOfToken, vehicleToken } from './vehicle-token.ts';

const hash = (digit: string): string => digit.repeat(64);

const issued = (digit: string, expiresAtMs = 100): CredentialFact => ({
  vehicle: 'v1',
  version: 1,
  action: 'issued',
  tokenSha256: hash(digit),
  notBeforeMs: 10,
  expiresAtMs,
  createdAtMs: 10,
});

const revoked = (digit: string | null): CredentialFact => ({
  ...issued('0'),
  action: 'revoked',
  tokenSha256: digit === null ? null : hash(digit),
});

const CASES: readonly (readonly [string, CredentialFact[], string, number, TokenVerdict])[] = [
  ['no facts', [], 'a', 50, { verdict: 'unknown' }],
  ['another token', [issued('b')], 'a', 50, { verdict: 'unknown' }],
  ['the only token', [issued('a')], 'a', 50, { verdict: 'valid' }],
  ['the moment it begins', [issued('a')], 'a', 10, { verdict: 'valid' }],
  ['before it begins', [issued('a')], 'a', 9, { verdict: 'notYetValid', atMs: 10 }],
  ['the last moment', [issued('a')], 'a', 99, { verdict: 'valid' }],
  ['the moment it ends', [issued('a')], 'a', 100, { verdict: 'expired', atMs: 100 }],
  ['the second newest', [issued('b'), issued('a')], 'a', 50, { verdict: 'valid' }],
  ['the third newest', [issued('c'), issued('b'), issued('a')], 'a', 50, { verdict: 'revoked' }],
  ['a revoked one', [revoked('a'), issued('a')], 'a', 50, { verdict: 'revoked' }],
  [
    'one beside a revoked one',
    [revoked('a'), issued('b'), issued('a')],
    'b',
    50,
    { verdict: 'valid' },
  ],
  [
    'the third, one of the newer revoked',
    [revoked('c'), issued('c'), issued('b'), issued('a')],
    'a',
    50,
    { verdict: 'valid' },
  ],
  ['all revoked', [revoked(null), issued('b'), issued('a')], 'b', 50, { verdict: 'revoked' }],
  [
    'issued after all were revoked',
    [issued('c'), revoked(null), issued('b'), issued('a')],
    'c',
    50,
    { verdict: 'valid' },
  ],
  ['revoked and expired', [revoked('a'), issued('a')], 'a', 500, { verdict: 'revoked' }],
];

test.each(CASES)('judgeToken with %s', (_, facts, digit, nowMs, verdict) => {
  expect(judgeToken(facts, hash(digit), nowMs)).toEqual(verdict);
});

test('judgeToken with a hash that is none is unknown', () => {
  expect(judgeToken([{ ...issued('a'), tokenSha256: '' }], '', 50)).toEqual({ verdict: 'unknown' });
});

test('vehicleOfToken of a vehicle token is its vehicle, dots in the name included', () => {
  const token = vehicleToken('fleet.veh-1', Uint8Array.of(1, 2, 250));
  expect(token).toBe('fleet.veh-1.AQL6');
  expect(vehicleOfToken(token)).toBe('fleet.veh-1');
});

test.each(['abc', '', '.abc', '../x.abc', '..abc', 'a b.c'])(
  'vehicleOfToken of %j is none',
  (token) => {
    expect(vehicleOfToken(token)).toBeUndefined();
  },
);
