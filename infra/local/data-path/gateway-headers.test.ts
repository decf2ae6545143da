import { expect, test } from 'vitest';
import { forwardedHeaders } from './gateway-headers.ts';

test('forwardedHeaders keeps order, case and repetitions, and drops what is of one connection', () => {
  const kept = forwardedHeaders(
    [
      ['Host', 'a', 'Connection', 'close, X-Hop', 'X-Hop', '1', 'ce-id', '7'],
      ['Set-Cookie', 'a=1', 'Transfer-Encoding', 'chunked', 'Set-Cookie', 'b=2', 'TE', 'trailers'],
      ['Keep-Alive', 'timeout=5', 'Upgrade', 'h2c', 'Expect', '100-continue'],
    ].flat(),
  );
  expect(kept).toEqual(['Host', 'a', 'ce-id', '7', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']);
});
