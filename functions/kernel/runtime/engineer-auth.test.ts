import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { sha256Hex } from '../system/sha256.ts';
import { engineerAuth } from './engineer-auth.ts';

const auth = engineerAuth(sha256Hex('the-token'));
const request = (authorization?: string): FastifyRequest =>
  ({ headers: { authorization } }) as FastifyRequest;

test.each(['Bearer the-token', 'bearer the-token', 'BEARER   the-token '])(
  'engineerAuth lets %j pass',
  async (header) => {
    await expect(auth(request(header))).resolves.toBeUndefined();
  },
);

test.each([undefined, '', 'the-token', 'Basic the-token', 'Bearer', 'Bearer ', 'Bearer a b'])(
  'engineerAuth refuses %j as no token, and says how to send one',
  async (header) => {
    await expect(auth(request(header))).rejects.toMatchObject({
      code: 'ENGINEER_TOKEN_MISSING',
      status: 401,
      message: expect.stringContaining('Authorization: Bearer TOKEN'),
    });
  },
);

test.each(['other', 'the-token2', 'The-Token', sha256Hex('the-token')])(
  'engineerAuth refuses the token %j without quoting it',
  async (token) => {
    await expect(auth(request(`Bearer ${token}`))).rejects.toMatchObject({
      code: 'ENGINEER_TOKEN_INVALID',
      status: 401,
      message: expect.not.stringContaining(token),
    });
  },
);

test.each(['', 'abc', sha256Hex('x').toUpperCase(), `${sha256Hex('x')}0`])(
  'engineerAuth with the hash %j refuses to start and names the variable',
  (hash) => {
    expect(() => engineerAuth(hash)).toThrow('ENGINEER_TOKEN_SHA256 = ');
  },
);
