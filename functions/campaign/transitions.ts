import { TachographError } from '#kernel/core/errors.ts';
import type { CampaignState } from '#kernel/facts/campaign.ts';

/** What an engineer does to a campaign's state: the last part of the route. */
export const ACTIONS = ['approve', 'start', 'pause', 'end'] as const;

export type CampaignAction = (typeof ACTIONS)[number];

/**
 * draft → approved → running ⇄ paused → ended. What was approved can be ended without ever running.
 */
const TRANSITIONS: Readonly<
  Record<CampaignAction, { readonly from: readonly CampaignState[]; readonly to: CampaignState }>
> = {
  approve: { from: ['draft'], to: 'approved' },
  start: { from: ['approved', 'paused'], to: 'running' },
  pause: { from: ['running'], to: 'paused' },
  end: { from: ['approved', 'running', 'paused'], to: 'ended' },
};

/**
 * The state after an action. An action whose state is already reached leaves it as it is: so a
 * caller that lost the answer can repeat itself. Any other is CAMPAIGN_TRANSITION.
 */
export function stateAfter(
  campaign: string,
  state: CampaignState,
  action: CampaignAction,
): CampaignState {
  const { from, to } = TRANSITIONS[action];
  if (state === to || from.includes(state)) return to;
  const allowed = ACTIONS.filter((other) => TRANSITIONS[other].from.includes(state));
  throw new TachographError('CAMPAIGN_TRANSITION', {
    campaign,
    state,
    action,
    allowed: allowed.length === 0 ? 'nothing more' : allowed.join(', '),
  });
}
