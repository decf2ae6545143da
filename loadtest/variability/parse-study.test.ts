import { expect, test } from 'vitest';
import { parseStudy, type StudyText } from './parse-study.ts';
import { estimateMs } from './study-order.ts';
import { burstCount, executionCount, LIMITS, spreadNeighbours } from './study.ts';

test('parseStudy of nothing: the defaults, in less than three minutes', () => {
  const study = parseStudy({});
  expect(study).toMatchObject({
    qos: ['best-effort', 'guaranteed'],
    demands: [
      { ms: 50, bursts: 4 },
      { ms: 200, bursts: 2 },
      { ms: 1_000, bursts: 1 },
    ],
    kind: 'work',
    rate: 'reference',
    limitMillicores: 1_000,
  });
  expect(study.nodes.map(({ name }) => name)).toEqual([1, 2, 3, 4, 5].map((n) => `node-${n}`));
  expect(executionCount(study)).toBe(30);
  expect(burstCount(study)).toBe(30 * 2 * 7);
  expect(estimateMs(study)).toBeLessThan(180_000);
});

test('parseStudy of everything: as asked', () => {
  const study = parseStudy({
    nodes: 'worker-1, worker-2.example',
    nodeCpus: '0.5',
    neighbours: '3',
    qos: 'guaranteed',
    demands: '1.5ms,2s',
    executions: '4',
    iterations: '5',
    bursts: '6,1',
    kind: 'cpuTime',
    rate: 'local',
    limit: '0.25',
    seed: '9',
  });
  expect(study).toEqual({
    seed: 9,
    kind: 'cpuTime',
    rate: 'local',
    nodes: [
      { name: 'worker-1', millicores: 500, neighbours: 0 },
      { name: 'worker-2.example', millicores: 500, neighbours: 3 },
    ],
    qos: ['guaranteed'],
    demands: [
      { ms: 1.5, bursts: 6 },
      { ms: 2_000, bursts: 1 },
    ],
    executions: 4,
    iterations: 5,
    limitMillicores: 250,
    marginPct: 2,
  });
});

const bad: readonly (readonly [string, StudyText, string])[] = [
  ['a demand without a unit', { demands: '50' }, '--demands'],
  ['a negative demand', { demands: '-5ms' }, '--demands'],
  ['a demand of nothing', { demands: '0ms' }, 'demand (ms)'],
  ['a demand above a minute', { demands: '61s' }, 'demand (ms)'],
  ['the same demand twice', { demands: '50ms,0.05s' }, 'twice'],
  ['a class nobody knows', { qos: 'burstable' }, 'best-effort or guaranteed'],
  ['the same class twice', { qos: 'guaranteed,guaranteed' }, 'twice'],
  ['too few numbers of bursts', { bursts: '1,2' }, 'one for each of 3 demands'],
  ['no bursts', { bursts: '0' }, 'bursts'],
  ['a kind nobody knows', { kind: 'delay' }, 'work or cpuTime'],
  ['executions that are no number', { executions: 'NaN' }, '--executions'],
  ['no executions', { executions: '0' }, 'executions'],
  ['too many executions', { executions: String(LIMITS.executions + 1) }, 'executions'],
  ['too many iterations', { iterations: String(LIMITS.iterations + 1) }, 'iterations'],
  ['no nodes', { nodes: '0' }, 'nodes'],
  ['too many nodes', { nodes: String(LIMITS.nodes + 1) }, 'nodes'],
  ['a node with a blank in its name', { nodes: 'a b' }, '--nodes'],
  ['the same node twice', { nodes: 'a,a' }, 'twice'],
  ['neighbours that leave nothing', { neighbours: '7' }, 'neighbours of node-5'],
  ['a node without CPU', { nodeCpus: '0.01' }, 'millicores'],
  ['too many bursts in all', { nodes: '100', executions: '100', iterations: '100' }, 'bursts'],
];

test.each(bad)('parseStudy with %s: refused by name', (_, text, place) => {
  expect(() => parseStudy(text)).toThrow(place);
});

test('spreadNeighbours: none on the first node, all on the last', () => {
  expect(spreadNeighbours(5, 4)).toEqual([0, 1, 2, 3, 4]);
  expect(spreadNeighbours(3, 3)).toEqual([0, 2, 3]);
  expect(spreadNeighbours(1, 3)).toEqual([3]);
});
