import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findParent, formatTraceparent, hopHeaders, parseTraceparent } from './propagation.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;
const OTHER = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`;

test.each([
  [PARENT, true],
  [`00-${TRACE}-${SPAN}-00`, false],
  [`00-${TRACE}-${SPAN}-03`, true],
  // A later version may have more parts.
  [`cc-${TRACE}-${SPAN}-01-what-the-future-holds`, true],
])('parseTraceparent of %s: sampled %s', (text, sampled) => {
  expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, sampled });
});

test.each([
  undefined,
  '',
  'x',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}`,
  ` ${PARENT}`,
])('parseTraceparent of %j: none', (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'.split('')), {
      minLength: length,
      maxLength: length,
    })
    .map((digits) => digits.join(''))
    .filter((text) => /[^0]/.test(text));

test('parseTraceparent reads what formatTraceparent writes', () => {
  const parsed = fc.record({ traceId: hex(32), spanId: hex(16), sampled: fc.boolean() });
  fc.assert(
    fc.property(parsed, (parts) => {
      expect(parseTraceparent(formatTraceparent(parts))).toEqual(parts);
    }),
  );
});

test.each([
  ['the header', { traceparent: PARENT }, { traceparent: OTHER, tachotrace: OTHER }, 'header'],
  ['the extension', {}, { traceparent: PARENT, tachotrace: OTHER }, 'extension'],
  ['the extension', { traceparent: 'broken' }, { traceparent: PARENT }, 'extension'],
  ['the origin, the other being blanked', {}, { traceparent: '', tachotrace: PARENT }, 'origin'],
])('findParent takes %s', (_, headers, extensions, from) => {
  expect(findParent(headers, extensions)).toEqual({ from, fields: { traceparent: PARENT } });
});

test('findParent of nothing usable: none', () => {
  const nothing = { from: 'none', fields: undefined };
  expect(findParent({})).toEqual(nothing);
  expect(findParent({ traceparent: [PARENT, PARENT] }, { tachotrace: '0' })).toEqual(nothing);
});

test('findParent takes the state that belongs to the parent, not another one', () => {
  const extensions = { traceparent: PARENT, tracestate: 'a=1' };
  expect(findParent({ tracestate: 'b=2' }, extensions).fields).toEqual(extensions);
  expect(findParent({ traceparent: PARENT, tracestate: '' }, extensions).fields).toEqual({
    traceparent: PARENT,
  });
});

test.each([
  [
    { traceparent: PARENT, tracestate: 'a=1' },
    { traceparent: PARENT, tracestate: 'a=1' },
  ],
  [{ traceparent: PARENT, tracestate: 'a=1\r\nx: y' }, { traceparent: PARENT }],
  [{ traceparent: PARENT, tracestate: 'a'.repeat(513) }, { traceparent: PARENT }],
  [{ traceparent: 'x\r\ny: z', tracestate: 'a=1' }, {}],
  [{}, {}],
])('hopHeaders of %j: %j', (extensions, headers) => {
  expect(hopHeaders(extensions)).toEqual(headers);
});
