import { expect, test } from 'vitest';
import { choosePolicy, readExperiment, withPolicy } from './read-experiment.ts';

const GOOD = `apiVersion: tachograph/v1
kind: Run
name: example
load:
  profile: emulated
  arrivals:
    step:
      levels:
        - { ratePerS: 0, forS: 2 }
        - { ratePerS: 8.5, forS: 10 }
pipeline:
  stages:
    data-processing:
      demand: delay:400ms@instead
      containerConcurrency: 1
policies:
  kpa:
    annotations: { autoscaling.knative.dev/window: 6s }
  fixed: { replicas: 2 }
arms:
  - name: kpa
    policy: kpa
`;

test('readExperiment: defaults are filled in, a step knows its duration', () => {
  expect(readExperiment(GOOD, 'a.yaml')).toEqual({
    kind: 'Run',
    name: 'example',
    question: null,
    target: 'local',
    seed: 1,
    stages: { 'data-processing': { demand: 'delay:400ms@instead', containerConcurrency: 1 } },
    load: {
      profile: 'emulated',
      vehicles: 20,
      arrivals: {
        kind: 'step',
        process: 'poisson',
        levels: [
          { ratePerS: 0, forMs: 2_000 },
          { ratePerS: 8.5, forMs: 10_000 },
        ],
      },
      durationMs: 12_000,
      settleWithinMs: 60_000,
    },
    arm: { name: 'kpa', policy: { kind: 'kpa' } },
    policies: {
      kpa: { annotations: { 'autoscaling.knative.dev/window': '6s' } },
      fixed: { replicas: 2 },
    },
  });
});

test("readExperiment: the arm's settings are stronger, setting by setting", () => {
  const text = `${GOOD}    settings: { configAutoscaler: { scale-to-zero-grace-period: 6s } }\n`;
  expect(readExperiment(text, 'a.yaml').policies.kpa).toEqual({
    annotations: { 'autoscaling.knative.dev/window': '6s' },
    configAutoscaler: { 'scale-to-zero-grace-period': '6s' },
  });
});

test.each([
  ['constant', { kind: 'constant', ratePerS: 3 }],
  ['poisson', { kind: 'poisson', ratePerS: 3 }],
])('readExperiment + %s arrivals: as asked, with a duration', (kind, arrivals) => {
  const text = GOOD.replace(
    /step:\n(.*\n){3}/,
    `${kind}: { ratePerS: 3 }\n  durationS: 2.5\n  vehicles: 4\n`,
  );
  expect(readExperiment(text, 'a.yaml').load).toMatchObject({
    arrivals,
    durationMs: 2_500,
    vehicles: 4,
  });
});

test.each<[string, string | RegExp, string, string]>([
  ['an unknown field', 'name: example', 'nmae: example', 'a.yaml:3: nmae: "nmae" is not known'],
  ['a nested one', 'forS: 2', 'fors: 2', 'did you mean "forS"'],
  ['an unknown stage', 'data-processing', 'data-procesing', 'a.yaml:13: pipeline.stages'],
  ['a missing field', '  profile: emulated\n', '', 'a.yaml:4: load: "profile" is missing'],
  [
    'a wrong value',
    'ratePerS: 8.5',
    'ratePerS: -1',
    'a.yaml:10: load.arrivals.step.levels[1].ratePerS: -1',
  ],
  ['a wrong type', 'ratePerS: 8.5', 'ratePerS: "8"', '"8" must be number'],
  [
    'a wrong demand',
    'delay:400ms@instead',
    'delay:400@instead',
    'a.yaml:14: pipeline.stages.data-processing.demand',
  ],
  ['an unknown policy', 'policy: kpa', 'policy: kpaa', 'did you mean kpa?'],
  ['a later kind', 'kind: Run', 'kind: Compare', 'a.yaml:2: kind: Compare is not run yet'],
  [
    'a later target',
    'kind: Run',
    'kind: Run\ntarget: cluster',
    'a.yaml:3: target: cluster is not run yet',
  ],
  [
    'a later field',
    'kind: Run',
    'kind: Run\nslo: {}',
    'a.yaml:3: slo: experiments with it are not',
  ],
  ['an unknown kind', 'kind: Run', 'kind: Rum', '"Rum" is not one of Run'],
  ['two arms', /$/, '  - { name: hpa, policy: hpa }\n', 'must NOT have more than 1 items'],
  ['no YAML', 'load:', 'load: [', 'a.yaml:'],
  ['two documents', /$/, '---\na: 1\n', 'one document a file'],
  ['no duration', /step:\n(.*\n){3}/, 'constant: { ratePerS: 3 }\n', '"durationS" is missing'],
  [
    'two kinds of arrivals',
    '    step:',
    '    constant: { ratePerS: 3 }\n    step:',
    'must NOT have more than 1',
  ],
  [
    'settings of another policy',
    /$/,
    '    settings: { replicas: 4 }\n',
    'a.yaml:23: arms[0].settings.replicas: "replicas" is not known here; use annotations, stages, configAutoscaler',
  ],
])('readExperiment of %s: refused with file, line and path', (_, from, to, message) => {
  const text = GOOD.replace(from, to);
  expect(text).not.toBe(GOOD);
  expect(() => readExperiment(text, 'a.yaml')).toThrow(message);
});

test('readExperiment with several faults: the first by line, and how many more', () => {
  const text = GOOD.replace('ratePerS: 8.5', 'ratePerS: -1').replace('name: example', 'name: ""');
  expect(() => readExperiment(text, 'a.yaml')).toThrow(/^a.yaml:3: name: .*\(and 1 more fault\)/);
});

test.each([
  ['hpa', { kind: 'hpa' }],
  ['examples/policies/mine.ts', { kind: 'custom', module: 'examples/policies/mine.ts' }],
  ['./mine.ts', { kind: 'custom', module: 'mine.ts' }],
  ['/tmp/mine.ts', undefined],
  ['mine', undefined],
])('choosePolicy of %s', (text, policy) => {
  expect(choosePolicy(text)).toEqual(policy);
});

test('withPolicy: arm and policy are replaced, the settings of all policies stay', () => {
  const experiment = readExperiment(GOOD, 'a.yaml');
  const other = withPolicy(experiment, { kind: 'fixed' });
  expect(other.arm).toEqual({ name: 'fixed', policy: { kind: 'fixed' } });
  expect(other.policies).toEqual(experiment.policies);
});
