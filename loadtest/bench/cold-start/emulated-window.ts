import type { WindowFact } from '#kernel/facts/facts.ts';

/** A window that data-processing handles by storing the least. */
export const emulatedWindow = (window: number): WindowFact => ({
  vehicle: 'bench',
  session: 's1',
  window,
  revision: 1,
  campaign: 'bench',
  campaignVersion: 1,
  fromUs: 0,
  untilUs: 1,
  seqs: [],
  ownSeqs: [],
  gaps: [],
  reason: 'covered',
  closedBy: 'bench',
  emulated: true,
});
