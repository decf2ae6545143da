import { expect, test } from 'vitest';
import { checkinBody, parseDueCampaigns } from './checkin.ts';

test('checkinBody without a report: no campaign', () => {
  expect(checkinBody(null)).toBe('{"campaigns":[]}');
});

test('parseDueCampaigns: what the state machine needs, and the definition whole', () => {
  const definition = { name: 'Demo', cache: { maxBytes: 1, whenFull: 'dropOldest' } };
  const told = { campaign: 'demo', version: 3, definitionSha256: 'ab', definition };
  expect(parseDueCampaigns(JSON.stringify({ campaigns: [told] }))).toEqual([
    {
      due: { campaign: 'demo', version: 3, definitionSha256: 'ab', cache: definition.cache },
      definition,
    },
  ]);
});

test.each(['', '<html>', '{}', '{"campaigns":7}', 'null'])(
  'parseDueCampaigns of %j: CHECKIN_UNREADABLE',
  (body) => {
    expect(() => parseDueCampaigns(body)).toThrow('The answer to a check-in cannot be read');
  },
);
