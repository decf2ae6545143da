import { expect, test } from 'vitest';
import { BACKOFF } from './upload-verdict.ts';
import { MAX_CHECKINS, NEW_VEHICLE, step } from './vehicle.ts';
import type { Verdict } from './upload-verdict.ts';
import type { Action, DueCampaign, Input, Step, VehicleState } from './vehicle.ts';

const campaign = (name: string, change: Partial<DueCampaign> = {}): DueCampaign => ({
  campaign: name,
  version: 3,
  definitionSha256: 'ab',
  cache: { maxBytes: 10_000, whenFull: 'dropNewest' },
  ...change,
});

const BUSY: Verdict = { kind: 'retry', retryAfterMs: 1_000, detail: '503' };
const STORED: Verdict = { kind: 'stored' };

/** Feeds inputs one after the other; the state at the end and the actions of the last one. */
const after = (...inputs: readonly Input[]): Step =>
  inputs.reduce<Step>(({ state }, input) => step(state, input), {
    state: NEW_VEHICLE,
    actions: [],
  });

const due = (...campaigns: readonly DueCampaign[]): Input => ({
  kind: 'checkedIn',
  due: campaigns,
});
const cut = (seq: number, bytes = 1_000, last = false): Input => ({
  kind: 'batchCut',
  seq,
  bytes,
  last,
});
const answered = (verdict: Verdict, jitter = 0.5): Input => ({
  kind: 'uploadAnswered',
  verdict,
  jitter,
});
const refusedCheckin = (verdict: Verdict): Input => ({
  kind: 'checkinFailed',
  verdict,
  jitter: 0.5,
});

const RECORDING: readonly Input[] = [{ kind: 'started' }, due(campaign('demo')), due()];

const kinds = (actions: readonly Action[]): readonly string[] => actions.map(({ kind }) => kind);

test('step through a whole session: ask, enact, record, upload, report, done', () => {
  expect(after({ kind: 'started' }).actions).toEqual([{ kind: 'checkIn', report: null }]);
  const enacting = after({ kind: 'started' }, due(campaign('demo')));
  expect(enacting.actions).toEqual([
    {
      kind: 'checkIn',
      report: { campaign: 'demo', version: 3, definitionSha256: 'ab', state: 'enacted' },
    },
  ]);
  expect(after(...RECORDING)).toMatchObject({
    state: { phase: 'recording' },
    actions: [{ kind: 'record', campaign: { campaign: 'demo' } }],
  });
  const draining = after(...RECORDING, cut(0), answered(STORED), cut(1, 1_000, true));
  expect(draining.actions).toEqual([{ kind: 'upload', seq: 1 }]);
  const reporting = step(draining.state, answered(STORED));
  expect(reporting.actions).toMatchObject([
    { kind: 'settle', seq: 1, outcome: 'stored', duplicate: false },
    { kind: 'checkIn', report: { state: 'done' } },
  ]);
  expect(step(reporting.state, due())).toMatchObject({
    state: { phase: 'done' },
    actions: [{ kind: 'finish', failure: null }],
  });
});

test('step with two campaigns due: the first by name, however they are listed', () => {
  const { state } = after({ kind: 'started' }, due(campaign('b'), campaign('a')));
  expect(state.campaign?.campaign).toBe('a');
});

test('step with nothing due: asks again after a while, and gives up after the limit', () => {
  let { state, actions } = after({ kind: 'started' }, due());
  for (let checkins = 1; checkins < MAX_CHECKINS; checkins++) {
    expect(actions).toEqual([{ kind: 'wait', for: 'checkIn', ms: 500 }]);
    ({ state } = step(state, { kind: 'waited', for: 'checkIn' }));
    ({ state, actions } = step(state, due()));
  }
  expect(state.phase).toBe('failed');
  expect(actions).toMatchObject([{ failure: `no campaign was due in ${MAX_CHECKINS} check-ins` }]);
});

test('step with a refused check-in: fails at once with the answer', () => {
  const verdict: Verdict = { kind: 'refused', status: 401, detail: '401 unknown token' };
  expect(after({ kind: 'started' }, refusedCheckin(verdict)).actions).toEqual([
    { kind: 'finish', failure: 'check-in refused: 401 unknown token' },
  ]);
});

test('step with a busy check-in: backs off, and gives up after the limit', () => {
  let { state, actions } = after({ kind: 'started' }, refusedCheckin(BUSY));
  expect(actions).toEqual([{ kind: 'wait', for: 'checkIn', ms: 1_100 }]);
  for (let checkins = 1; checkins < MAX_CHECKINS; checkins++) {
    ({ state } = step(state, { kind: 'waited', for: 'checkIn' }));
    ({ state, actions } = step(state, refusedCheckin(BUSY)));
  }
  expect(state.phase).toBe('failed');
  expect(kinds(actions)).toEqual(['finish']);
});

test('step with a batch cut while another is under way: waits its turn, oldest first', () => {
  const { state, actions } = after(...RECORDING, cut(0), cut(1), cut(2));
  expect(actions).toEqual([]);
  expect(step(state, answered(STORED)).actions).toMatchObject([
    { kind: 'settle', seq: 0 },
    { kind: 'upload', seq: 1 },
  ]);
});

test('step with a busy answer: the same batch again after Retry-After and jitter', () => {
  const busy = after(...RECORDING, cut(0), cut(1), answered(BUSY));
  expect(busy.actions).toEqual([{ kind: 'wait', for: 'upload', ms: 1_100 }]);
  // A batch that is cut meanwhile does not overtake.
  const meanwhile = step(busy.state, cut(2));
  expect(meanwhile.actions).toEqual([]);
  expect(step(meanwhile.state, { kind: 'waited', for: 'upload' }).actions).toEqual([
    { kind: 'upload', seq: 0 },
  ]);
});

test('step with a refused batch: never again, kept in the account, the next one follows', () => {
  const verdict: Verdict = { kind: 'refused', status: 422, detail: '422 ended' };
  expect(after(...RECORDING, cut(0), cut(1), answered(verdict)).actions).toEqual([
    { kind: 'settle', seq: 0, outcome: 'refused', duplicate: false, detail: '422 ended' },
    { kind: 'upload', seq: 1 },
  ]);
});

test('step with a duplicate: stored, and told apart', () => {
  expect(after(...RECORDING, cut(0), answered({ kind: 'duplicate' })).actions).toMatchObject([
    { kind: 'settle', outcome: 'stored', duplicate: true },
  ]);
});

test('step with a batch that is never taken: unresolved after the last attempt', () => {
  let { state, actions } = after(...RECORDING, cut(0), answered(BUSY));
  for (let attempt = 2; attempt <= BACKOFF.maxAttempts; attempt++) {
    expect(kinds(actions)).toEqual(['wait']);
    ({ state } = step(state, { kind: 'waited', for: 'upload' }));
    ({ state, actions } = step(state, answered(BUSY)));
  }
  expect(actions).toMatchObject([{ kind: 'settle', seq: 0, outcome: 'unresolved' }]);
});

test('step with a full cache and stopRecording: the session ends with the emptied batch', () => {
  const small = campaign('demo', { cache: { maxBytes: 1_500, whenFull: 'stopRecording' } });
  const inputs = [{ kind: 'started' }, due(small), due(), cut(0)] as const;
  const full = after(...inputs, cut(1));
  expect(full.actions).toEqual([
    { kind: 'empty', seq: 1 },
    { kind: 'stopRecording', seq: 1 },
  ]);
  expect(full.state.phase).toBe('draining');
});

test('step after a stop: everything in the cache is unresolved, later answers change nothing', () => {
  const stopped = after(...RECORDING, cut(0), cut(1), { kind: 'stopped' });
  expect(stopped.actions).toMatchObject([
    { kind: 'settle', seq: 0, outcome: 'unresolved' },
    { kind: 'settle', seq: 1, outcome: 'unresolved' },
    { kind: 'finish', failure: 'the run was stopped' },
  ]);
  const state: VehicleState = stopped.state;
  expect(step(state, answered(STORED))).toEqual({ state, actions: [] });
});
