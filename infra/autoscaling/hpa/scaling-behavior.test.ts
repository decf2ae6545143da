import { expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import { DEFAULT_BEHAVIOR, type ScalingBehavior, type ScalingRules } from './hpa-config.ts';
import {
  limitRate,
  NO_BEHAVIOR,
  rememberChange,
  rememberRecommendation,
  type ScaleEvent,
} from './scaling-behavior.ts';
import { exampleHpa, exampleRules } from './testing/example-hpa.ts';
import { readTable } from './testing/read-table.ts';

/** Restates kubernetes pkg/controller/podautoscaler/horizontal_test.go, commit 003e8629, by its names. */
const NOW_MS = 10_000_000;

const behaviorOf = (
  up: ScalingRules = DEFAULT_BEHAVIOR.scaleUp,
  down: ScalingRules = DEFAULT_BEHAVIOR.scaleDown,
): ScalingBehavior => ({ scaleUp: up, scaleDown: down });

const numbers = (text: string): readonly number[] =>
  text === '-' ? [] : text.split(' ').map(Number);

/** generateEventsUniformDistribution: each in the middle of its part of the period of 120 s. */
const spread = (changes: readonly number[]): readonly ScaleEvent[] =>
  changes.map((change, index) => {
    const partS = 120 / changes.length;
    return { atMs: NOW_MS - (120 - partS * (index + 1) + partS / 2) * 1_000, change };
  });

/** Policies such as `20/60s 1%/60s`; `-`: the API's default. */
function rulesOf(text: string): ScalingRules | undefined {
  if (text === '-') return undefined;
  const policies = text.split(' ').map((policy) => {
    const parts = must(/^(\d+)(%?)\/(\d+)s$/.exec(policy), policy);
    const type = parts[2] === '%' ? ('Percent' as const) : ('Pods' as const);
    return { type, value: Number(parts[1]), periodMs: Number(parts[3]) * 1_000 };
  });
  return { stabilizationWindowMs: 0, policies, selectPolicy: 'Max', tolerance: null };
}

/** TestScalingWithRules: replicas that were added and removed within the last 120 s, and the limit. */
const RATES = `
  name                                                      | up                 | down               | added     | removed   | min | max  | current | desired | replicas | limit
  within range                                              | -                  | -                  | -         | -         | 3   | 8    | 5       | 7       | 7        | -
  desired < minReplicas                                     | -                  | -                  | -         | -         | 2   | 8    | 3       | 1       | 2        | minReplicas
  minReplicas is 0                                          | -                  | -                  | -         | -         | 0   | 10   | 1       | 0       | 0        | -
  maxReplicas < scaleUpLimit                                | -                  | -                  | -         | -         | 1   | 10   | 20      | 1000    | 10       | maxReplicas
  more than the maximum replica count                       | -                  | -                  | -         | -         | 100 | 150  | 100     | 1000    | 150      | maxReplicas
  scaleUpLimit < maxReplicas with user policies             | 1%/60s             | -                  | -         | -         | 1   | 2000 | 3       | 1000    | 4        | behavior.scaleUp
  scaleDownLimit > minReplicas with user policies           | -                  | 20/60s             | -         | -         | 3   | 2000 | 1000    | 3       | 980      | behavior.scaleDown
  up, default                                               | -                  | -                  | -         | -         | 1   | 1000 | 10      | 50      | 20       | behavior.scaleUp
  up, pods larger than percent                              | 100/60s 100%/60s   | -                  | -         | -         | 1   | 1000 | 10      | 500     | 110      | behavior.scaleUp
  up, percent larger than pods                              | 2/60s 100%/60s     | -                  | -         | -         | 1   | 1000 | 10      | 500     | 20       | behavior.scaleUp
  up, large pods                                            | 100/60s            | -                  | -         | -         | 1   | 1000 | 10      | 50      | 50       | -
  up, pods limit                                            | 30/60s             | -                  | -         | -         | 1   | 1000 | 10      | 50      | 40       | behavior.scaleUp
  up, percent limit                                         | 200%/60s           | -                  | -         | -         | 1   | 1000 | 10      | 50      | 30       | behavior.scaleUp
  down, pods larger than percent                            | -                  | 20/60s 1%/60s      | -         | -         | 1   | 1000 | 100     | 2       | 80       | behavior.scaleDown
  down, pods 2 and percent 1                                | -                  | 2/60s 1%/60s       | -         | -         | 1   | 1000 | 100     | 2       | 98       | behavior.scaleDown
  down, large pods                                          | -                  | 100/60s            | -         | -         | 1   | 1000 | 10      | 0       | 1        | minReplicas
  down, large percent, minReplicas 5                        | -                  | 100%/60s           | -         | -         | 5   | 1000 | 10      | 2       | 5        | minReplicas
  down, pods limit                                          | -                  | 5/60s              | -         | -         | 1   | 1000 | 10      | 2       | 5        | behavior.scaleDown
  down, percent limit                                       | -                  | 50%/60s            | -         | -         | 1   | 1000 | 10      | 5       | 5        | -
  up, large pods and events                                 | 300/60s            | -                  | 1 5 9     | -         | 1   | 200  | 100     | 500     | 200      | maxReplicas
  up, large percent and events                              | 10000%/60s         | -                  | 1 5 9     | -         | 1   | 200  | 100     | 500     | 200      | maxReplicas
  up, many recent events                                    | 5/120s             | -                  | 1 5 9     | -         | 1   | 1000 | 100     | 500     | 100      | behavior.scaleUp
  up, pods and events (100 - 15 + 150)                      | 150/120s           | -                  | 1 5 9     | -         | 1   | 1000 | 100     | 500     | 235      | behavior.scaleUp
  up, percent and events ((100 - 15) + 200 %)               | 200%/120s          | -                  | 1 5 9     | -         | 1   | 1000 | 100     | 500     | 255      | behavior.scaleUp
  up, events of both directions ((6 - 4 + 2) + 300 %)       | 300%/300s          | -                  | 4         | 2         | 1   | 1000 | 6       | 24      | 16       | behavior.scaleUp
  down, default and events                                  | -                  | -                  | -         | 1 5 9     | 1   | 1000 | 10      | 5       | 5        | -
  down, large pods and events                               | -                  | 115/120s           | -         | 1 5 9     | 1   | 1000 | 100     | 0       | 1        | minReplicas
  down, pods limit and events (100 + 15 - 5)                | -                  | 5/120s             | -         | 1 5 9     | 1   | 1000 | 100     | 2       | 100      | behavior.scaleDown
  down, percent limit and events ((100 + 12) - 50 %)        | -                  | 50%/120s           | -         | 2 4 6     | 1   | 1000 | 100     | 0       | 56       | behavior.scaleDown
  down, events of both directions ((10 - 2 + 4) - 50 %)     | -                  | 50%/180s           | 2         | 4         | 1   | 1000 | 10      | 1       | 6        | behavior.scaleDown
  down, events that allow no more ((100 + 30) - 10 % = 117) | -                  | 10%/120s           | -         | 10 10 10  | 1   | 1000 | 100     | 0       | 100      | behavior.scaleDown
  down, a limit below zero ((10 + 30) - 1000 %)             | -                  | 1000%/120s         | -         | 10 10 10  | 1   | 1000 | 10      | 5       | 5        | -
  up, two policies with different periods                   | 1000/120s 100%/60s | -                  | 8 12 9 11 | -         | 1   | 1000 | 100     | 200     | 200      | -
  down, two policies with different periods                 | -                  | 1000/120s 100%/60s | -         | 8 12 9 11 | 1   | 1000 | 100     | 5       | 5        | -
`;

const COLUMNS = [
  'name',
  'up',
  'down',
  'added',
  'removed',
  'min',
  'max',
  'current',
  'desired',
  'replicas',
  'limit',
] as const;

test.each(readTable(RATES, ...COLUMNS))('rate: $name', (row) => {
  const config = exampleHpa({
    minReplicas: Number(row.min),
    maxReplicas: Number(row.max),
    behavior: behaviorOf(rulesOf(row.up), rulesOf(row.down)),
  });
  const removed = numbers(row.removed).map((change) => -change);
  const state = { ...NO_BEHAVIOR, events: [...spread(numbers(row.added)), ...spread(removed)] };
  const limited = limitRate(config, state, Number(row.current), Number(row.desired), NOW_MS);
  const limits = row.limit === '-' ? [] : [row.limit];
  expect(limited).toEqual({ replicas: Number(row.replicas), limits });
});

/** TestCalculateScaleUpLimitWithScalingRules, TestCalculateScaleDownLimitWithBehaviors; and Disabled. */
test.each([
  { select: 'Min', current: 1, desired: 100, replicas: 2 },
  { select: 'Min', current: 5, desired: 0, replicas: 3 },
  { select: 'Max', current: 5, desired: 0, replicas: 2 },
  { select: 'Disabled', current: 5, desired: 100, replicas: 5 },
  { select: 'Disabled', current: 5, desired: 0, replicas: 5 },
] as const)('selectPolicy $select: $current, $desired → $replicas', (row) => {
  const rules = { ...exampleRules(2, 60, 50, 60, 300), selectPolicy: row.select };
  const config = exampleHpa({
    minReplicas: 0,
    maxReplicas: 1_000,
    behavior: behaviorOf(rules, rules),
  });
  const limited = limitRate(config, NO_BEHAVIOR, row.current, row.desired, NOW_MS);
  expect(limited.replicas).toBe(row.replicas);
});

/** TestStoreScaleEvents. Seconds ago and change; `seen`: what counts within the last 60 s. */
test.each([
  { name: 'no entries', was: [], percentPeriodS: 60, podsPeriodS: 60, kept: [5], seen: 0 },
  {
    name: 'one outdated entry',
    was: [[61, 7]],
    percentPeriodS: 60,
    podsPeriodS: 60,
    kept: [5],
    seen: 0,
  },
  {
    name: 'one actual entry',
    was: [[58, 7]],
    percentPeriodS: 60,
    podsPeriodS: 60,
    kept: [7, 5],
    seen: 7,
  },
  {
    name: 'two entries, one of them outdated',
    was: [
      [61, 7],
      [59, 6],
    ],
    percentPeriodS: 0,
    podsPeriodS: 60,
    kept: [6, 5],
    seen: 6,
  },
  {
    name: 'policies with different periods',
    was: [
      [29, 8],
      [59, 6],
      [61, 7],
      [61, 9],
    ],
    percentPeriodS: 30,
    podsPeriodS: 60,
    kept: [8, 6, 5],
    seen: 14,
  },
  {
    name: 'two entries, both actual',
    was: [
      [58, 7],
      [59, 6],
    ],
    percentPeriodS: 30,
    podsPeriodS: 120,
    kept: [7, 6, 5],
    seen: 13,
  },
] as const)('changes: $name', ({ was, percentPeriodS, podsPeriodS, kept, seen }) => {
  const rules = exampleRules(10, podsPeriodS, percentPeriodS === 0 ? 0 : 100, percentPeriodS, 0);
  for (const sign of [1, -1]) {
    const events = was.map(([agoS, change]) => ({
      atMs: NOW_MS - agoS * 1_000,
      change: sign * change,
    }));
    const state = { ...NO_BEHAVIOR, events };
    const config = exampleHpa({ behavior: behaviorOf(rules, rules) });
    const next = rememberChange(config, state, sign * 5, NOW_MS);
    expect(next.events.map(({ change }) => change)).toEqual(kept.map((change) => sign * change));
    const look = exampleHpa({
      maxReplicas: 1_000,
      behavior: behaviorOf(exampleRules(100, 60, 0, 0, 0), exampleRules(100, 60, 0, 0, 0)),
    });
    const limited = limitRate(look, state, 500, sign > 0 ? 1_000 : 1, NOW_MS);
    expect(limited.replicas).toBe(500 + sign * (100 - seen));
  }
});

test('what is remembered is bounded by the windows: 1,000 decisions, 60 of them kept', () => {
  const rules = { ...exampleRules(4, 20, 0, 0, 60) };
  const config = exampleHpa({ behavior: behaviorOf(rules, rules) });
  let state = NO_BEHAVIOR;
  for (let second = 0; second < 1_000; second++) {
    state = rememberRecommendation(config, state, 3, second * 1_000);
    state = rememberChange(config, state, 1, second * 1_000);
  }
  expect(state.recommendations).toHaveLength(60);
  expect(state.events).toHaveLength(20);
});
