import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TachographError } from '#kernel/core/errors.ts';
import { describeFailure } from './describe-failure.ts';

const systemError = (code: string, path: string): Error =>
  Object.assign(new Error(`${code}: refused, open '${path}'`), { code, errno: -1, path });

test.each(['EROFS', 'ENOSPC', 'EACCES'])(
  'describeFailure of %s is one sentence with path and remedy',
  (code) => {
    const text = describeFailure(systemError(code, '/data/x'));
    expect(text).toMatch(/^[A-Z]+: refused, open '\/data\/x'; .+/);
    expect(text).not.toContain('\n');
  },
);

test('describeFailure of an error that the system gave has no stack', () => {
  let seen: unknown;
  try {
    mkdirSync('/dev/null/x');
  } catch (error) {
    seen = error;
  }
  expect(describeFailure(seen)).toMatch(
    /^ENOTDIR: .+\/dev\/null\/x'; a part of the path is a file/,
  );
});

test('describeFailure of a bug has the stack, of an expected error the message alone', () => {
  expect(describeFailure(new Error('a bug'))).toMatch(/a bug\n +at /);
  expect(describeFailure(new TachographError('PORT_IN_USE', { port: 1 }))).not.toContain('\n');
});
