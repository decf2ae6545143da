import { expect, test } from 'vitest';
import type { CampaignReport, CheckinFact } from './checkin.ts';
import { vehicleCampaignState } from './vehicle-campaign-state.ts';

const NEW = { campaign: 'brakes', version: 2, definitionSha256: 'b'.repeat(64) };
const OLD = { campaign: 'brakes', version: 1, definitionSha256: 'a'.repeat(64) };

const says = (state: CampaignReport['state'], reason?: string): CampaignReport => ({
  ...NEW,
  state,
  ...(reason === undefined ? {} : { reason }),
});

let atMs = 0;
const checkin = (said: CampaignReport[], told: CheckinFact['told'] = [NEW]): CheckinFact => ({
  vehicle: 'v1',
  atMs: ++atMs,
  said: { campaigns: said },
  told,
});

const CASES: readonly (readonly [string, CheckinFact[], string, string | null])[] = [
  ['no check-in', [], 'pending', null],
  ['a check-in that told nothing', [checkin([], [])], 'pending', null],
  ['a check-in that told an older definition', [checkin([], [OLD])], 'pending', null],
  ['a check-in that told it', [checkin([])], 'delivered', null],
  ['told, then told nothing more', [checkin([]), checkin([], [])], 'delivered', null],
  ['enacted', [checkin([]), checkin([says('enacted')])], 'enacted', null],
  ['recording at once', [checkin([]), checkin([says('recording')])], 'recording', null],
  ['an older definition enacted', [checkin([{ ...OLD, state: 'recording' }])], 'delivered', null],
  ['done', [checkin([says('recording')]), checkin([says('done')])], 'done', null],
  ['done and forgotten', [checkin([says('done')]), checkin([])], 'done', null],
  ['failed', [checkin([says('failed', 'no bus')])], 'failed', 'no bus'],
  ['failed without a reason', [checkin([says('failed')])], 'failed', 'no reason given'],
  ['failed and forgotten', [checkin([says('failed', 'x')]), checkin([])], 'failed', 'x'],
  [
    'failed, then recording',
    [checkin([says('failed')]), checkin([says('recording')])],
    'recording',
    null,
  ],
  ['recording, lost, told again', [checkin([says('recording')]), checkin([])], 'delivered', null],
  ['recording, lost, not told', [checkin([says('recording')]), checkin([], [])], 'pending', null],
];

test.each(CASES)('vehicleCampaignState after %s', (_, checkins, state, reason) => {
  expect(vehicleCampaignState(NEW, checkins)).toMatchObject({ state, reason });
});

test('vehicleCampaignState keeps the time of the first check-in that said so', () => {
  const checkins = [checkin([]), checkin([says('recording')]), checkin([says('recording')])];
  const { sinceMs } = vehicleCampaignState(NEW, checkins);
  expect(sinceMs).toBe(checkins[1]?.atMs);
});
