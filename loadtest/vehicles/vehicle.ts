import { must, unreachable } from '#kernel/core/assert.ts';
import { addBatch, EMPTY_CACHE, markTried, removeOldest } from './batch-cache.ts';
import type { BatchCache, CacheLimits } from './batch-cache.ts';
import { BACKOFF, backoffMs } from './upload-verdict.ts';
import type { Verdict } from './upload-verdict.ts';

/**
 * A vehicle as a pure state machine: what happened in, what to do out. The agent around it owns the
 * clock, the network and the bodies.
 */
export interface DueCampaign {
  readonly campaign: string;
  readonly version: number;
  readonly definitionSha256: string;
  readonly cache: CacheLimits;
}

/** What a vehicle says about its campaign when it checks in. */
export interface CampaignReport {
  readonly campaign: string;
  readonly version: number;
  readonly definitionSha256: string;
  readonly state: 'enacted' | 'recording' | 'done' | 'failed';
}

/**
 * asking (is a campaign due?) → enacting (it told the service so) → recording → draining (recorded,
 * not all acknowledged) → reporting (tells the service that it is done) → done. `failed` from anywhere.
 */
export type Phase =
  | 'asking'
  | 'enacting'
  | 'recording'
  | 'draining'
  | 'reporting'
  | 'done'
  | 'failed';

export interface VehicleState {
  readonly phase: Phase;
  readonly campaign: DueCampaign | null;
  /** Check-ins in the present phase. */
  readonly checkins: number;
  readonly cache: BatchCache;
  /** The oldest batch is under way, or waits for its next attempt. */
  readonly isUploading: boolean;
}

export type Outcome = 'stored' | 'refused' | 'unresolved';

export type Input =
  | { readonly kind: 'started' }
  | { readonly kind: 'checkedIn'; readonly due: readonly DueCampaign[] }
  | { readonly kind: 'checkinFailed'; readonly verdict: Verdict; readonly jitter: number }
  | { readonly kind: 'waited'; readonly for: 'checkIn' | 'upload' }
  | {
      readonly kind: 'batchCut';
      readonly seq: number;
      readonly bytes: number;
      readonly last: boolean;
    }
  | { readonly kind: 'uploadAnswered'; readonly verdict: Verdict; readonly jitter: number }
  | { readonly kind: 'stopped' };

export type Action =
  | { readonly kind: 'checkIn'; readonly report: CampaignReport | null }
  | { readonly kind: 'record'; readonly campaign: DueCampaign }
  /** Drop the batch's frames, keep its account. */
  | { readonly kind: 'empty'; readonly seq: number }
  /** Record nothing more; this batch is the session's last. */
  | { readonly kind: 'stopRecording'; readonly seq: number }
  | { readonly kind: 'upload'; readonly seq: number }
  | { readonly kind: 'wait'; readonly for: 'checkIn' | 'upload'; readonly ms: number }
  | {
      readonly kind: 'settle';
      readonly seq: number;
      readonly outcome: Outcome;
      readonly duplicate: boolean;
      readonly detail: string;
    }
  | { readonly kind: 'finish'; readonly failure: string | null };

export interface Step {
  readonly state: VehicleState;
  readonly actions: readonly Action[];
}

/** Between two check-ins of a vehicle for which nothing is due, in real time. */
export const CHECKIN_EVERY_MS = 500;
/** After so many check-ins without an answer or a campaign the vehicle gives up. */
export const MAX_CHECKINS = 60;

export const NEW_VEHICLE: VehicleState = {
  phase: 'asking',
  campaign: null,
  checkins: 0,
  cache: EMPTY_CACHE,
  isUploading: false,
};

/** Inputs that come too late for the phase (an answer after the stop) change nothing. */
export function step(state: VehicleState, input: Input): Step {
  if (state.phase === 'done' || state.phase === 'failed') return { state, actions: [] };
  switch (input.kind) {
    case 'started':
      return checkIn(state);
    case 'checkedIn':
      return checkedIn(state, input.due);
    case 'checkinFailed':
      return checkinFailed(state, input.verdict, input.jitter);
    case 'waited':
      return input.for === 'checkIn' ? checkIn(state) : upload(state);
    case 'batchCut':
      return batchCut(state, input);
    case 'uploadAnswered':
      return uploadAnswered(state, input.verdict, input.jitter);
    case 'stopped':
      return stopped(state);
    default:
      return unreachable(input);
  }
}

const fail = (state: VehicleState, failure: string): Step => ({
  state: { ...state, phase: 'failed' },
  actions: [{ kind: 'finish', failure }],
});

const REPORTED: Partial<Record<Phase, CampaignReport['state']>> = {
  enacting: 'enacted',
  reporting: 'done',
};

function checkIn(state: VehicleState): Step {
  const reported = REPORTED[state.phase];
  const report =
    state.campaign === null || reported === undefined
      ? null
      : {
          campaign: state.campaign.campaign,
          version: state.campaign.version,
          definitionSha256: state.campaign.definitionSha256,
          state: reported,
        };
  return {
    state: { ...state, checkins: state.checkins + 1 },
    actions: [{ kind: 'checkIn', report }],
  };
}

/** A vehicle enacts one campaign at a time: the first by name, so that every run takes the same. */
function checkedIn(state: VehicleState, due: readonly DueCampaign[]): Step {
  if (state.phase === 'enacting') {
    const campaign = must(state.campaign, 'a vehicle that enacts has a campaign');
    return {
      state: { ...state, phase: 'recording', checkins: 0 },
      actions: [{ kind: 'record', campaign }],
    };
  }
  if (state.phase === 'reporting') {
    return { state: { ...state, phase: 'done' }, actions: [{ kind: 'finish', failure: null }] };
  }
  const [first] = [...due].sort((a, b) => (a.campaign < b.campaign ? -1 : 1));
  if (first !== undefined) {
    return checkIn({ ...state, phase: 'enacting', campaign: first, checkins: 0 });
  }
  if (state.checkins >= MAX_CHECKINS) {
    return fail(state, `no campaign was due in ${MAX_CHECKINS} check-ins`);
  }
  return { state, actions: [{ kind: 'wait', for: 'checkIn', ms: CHECKIN_EVERY_MS }] };
}

function checkinFailed(state: VehicleState, verdict: Verdict, jitter: number): Step {
  if (verdict.kind === 'refused') return fail(state, `check-in refused: ${verdict.detail}`);
  const retry = must(verdict.kind === 'retry' ? verdict : null, 'a failed check-in has no success');
  if (state.checkins >= MAX_CHECKINS) {
    return fail(state, `check-in failed ${MAX_CHECKINS} times, last: ${retry.detail}`);
  }
  const ms = backoffMs(state.checkins, retry.retryAfterMs, jitter);
  return { state, actions: [{ kind: 'wait', for: 'checkIn', ms }] };
}

function batchCut(state: VehicleState, input: Extract<Input, { kind: 'batchCut' }>): Step {
  const limits = must(state.campaign, 'a vehicle that records has a campaign').cache;
  const { cache, emptied, stopRecording } = addBatch(state.cache, input.seq, input.bytes, limits);
  const losses: Action[] = emptied.map((seq) => ({ kind: 'empty', seq }));
  const phase = stopRecording || input.last ? 'draining' : state.phase;
  const stop: Action[] =
    stopRecording && !input.last ? [{ kind: 'stopRecording', seq: input.seq }] : [];
  const next = { ...state, cache, phase } satisfies VehicleState;
  const { state: after, actions } = state.isUploading ? { state: next, actions: [] } : upload(next);
  return { state: after, actions: [...losses, ...stop, ...actions] };
}

/** Uploads the oldest batch; with none left of a session that has ended, tells the service so. */
function upload(state: VehicleState): Step {
  const [oldest] = state.cache.batches;
  if (oldest !== undefined) {
    return {
      state: { ...state, cache: markTried(state.cache), isUploading: true },
      actions: [{ kind: 'upload', seq: oldest.seq }],
    };
  }
  const idle = { ...state, isUploading: false };
  return state.phase === 'draining'
    ? checkIn({ ...idle, phase: 'reporting', checkins: 0 })
    : { state: idle, actions: [] };
}

function uploadAnswered(state: VehicleState, verdict: Verdict, jitter: number): Step {
  const oldest = must(state.cache.batches[0], 'an upload was answered, so one was under way');
  if (verdict.kind === 'retry' && oldest.attempts < BACKOFF.maxAttempts) {
    const ms = backoffMs(oldest.attempts, verdict.retryAfterMs, jitter);
    return { state, actions: [{ kind: 'wait', for: 'upload', ms }] };
  }
  const settle: Action = {
    kind: 'settle',
    seq: oldest.seq,
    outcome: outcomeOf(verdict),
    duplicate: verdict.kind === 'duplicate',
    detail: 'detail' in verdict ? verdict.detail : '',
  };
  const next = upload({ ...state, cache: removeOldest(state.cache), isUploading: false });
  return { state: next.state, actions: [settle, ...next.actions] };
}

function outcomeOf(verdict: Verdict): Outcome {
  if (verdict.kind === 'retry') return 'unresolved';
  return verdict.kind === 'refused' ? 'refused' : 'stored';
}

function stopped(state: VehicleState): Step {
  const left = state.cache.batches.map(({ seq }): Action => ({
    kind: 'settle',
    seq,
    outcome: 'unresolved',
    duplicate: false,
    detail: 'the run was stopped',
  }));
  const failed = fail({ ...state, cache: EMPTY_CACHE }, 'the run was stopped');
  return { state: failed.state, actions: [...left, ...failed.actions] };
}
