import { expect, test } from 'vitest';
import { isNamePart } from '#kernel/core/ids.ts';
import type { CampaignDefinition } from './campaign.ts';
import { resultVersions } from './result-versions.ts';

const of = (decoders: Record<string, string>, software: string, sha256 = 'aa'): string =>
  resultVersions(
    { definition: { decoders } as unknown as CampaignDefinition, definitionSha256: sha256 },
    software,
  );

test('resultVersions is a short name part that stays the same', () => {
  expect(of({ can0: 'd0' }, 'tachograph/0.1.0')).toBe(of({ can0: 'd0' }, 'tachograph/0.1.0'));
  expect(of({ can0: 'd0' }, 'tachograph/0.1.0')).toMatch(/^[0-9a-f]{16}$/);
  expect(isNamePart(of({}, ''))).toBe(true);
});

test('resultVersions does not depend on the order of the buses or the minor version', () => {
  expect(of({ can1: 'd1', can0: 'd0' }, 'tachograph/2.1.0')).toBe(
    of({ can0: 'd0', can1: 'd1' }, 'tachograph/2.99.3'),
  );
});

test('resultVersions changes with definition, DBC, bus and major version', () => {
  const all = [
    of({ can0: 'd0' }, 'tachograph/0.1.0'),
    of({ can0: 'd0' }, 'tachograph/0.1.0', 'bb'),
    of({ can0: 'd1' }, 'tachograph/0.1.0'),
    of({ can1: 'd0' }, 'tachograph/0.1.0'),
    of({ can0: 'd0' }, 'tachograph/1.1.0'),
  ];
  expect(new Set(all).size).toBe(all.length);
});
