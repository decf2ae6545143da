import { expect, test } from 'vitest';
import { ACTIONS, stateAfter } from './transitions.ts';

const STATES = ['draft', 'approved', 'running', 'paused', 'ended'] as const;

/** Every pair of state and action: the next state, or what is refused. */
const TABLE = `
draft    approve approved
draft    start   -
draft    pause   -
draft    end     -
approved approve approved
approved start   running
approved pause   -
approved end     ended
running  approve -
running  start   running
running  pause   paused
running  end     ended
paused   approve -
paused   start   running
paused   pause   paused
paused   end     ended
ended    approve -
ended    start   -
ended    pause   -
ended    end     ended`;

test('stateAfter follows the table for every state and action', () => {
  const lines = STATES.flatMap((state) =>
    ACTIONS.map((action) => {
      let next: string;
      try {
        next = stateAfter('c', state, action);
      } catch {
        next = '-';
      }
      return `${state.padEnd(8)} ${action.padEnd(7)} ${next}`;
    }),
  );
  expect(`\n${lines.join('\n')}`).toBe(TABLE);
});

test('stateAfter + an illegal action names the state and what is allowed', () => {
  expect(() => stateAfter('c1', 'draft', 'start')).toThrow(
    'The campaign c1 is draft and cannot start; from draft it can: approve',
  );
  expect(() => stateAfter('c1', 'paused', 'approve')).toThrow('from paused it can: start, end');
  expect(() => stateAfter('c1', 'ended', 'start')).toThrow('from ended it can: nothing more');
});
