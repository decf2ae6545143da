import { expect, test } from 'vitest';
import { parseConfigAutoscaler } from '#infra/autoscaling/knative-config/config-autoscaler.ts';
import { readAutoscalerConfig } from './autoscaler-config-map.ts';
import type { LocatedMap } from './located-node.ts';
import { parseYaml } from './parse-yaml.ts';
import { all, configMap, service } from './testing/manifest-texts.ts';
import { readText } from './testing/read-text.ts';

const DEFAULTS = parseConfigAutoscaler({}).value;

const read = (...documents: readonly string[]) =>
  readAutoscalerConfig(parseYaml(all(...documents), 'x.yaml') as LocatedMap[]);

test('without config-autoscaler, or one without data, Knative’s defaults hold', () => {
  expect(DEFAULTS?.stableWindowMs).toBe(60_000);
  expect(readAutoscalerConfig([])).toEqual(DEFAULTS);
  expect(read(configMap('').replace('data:\n', ''))).toEqual(DEFAULTS);
  expect(read(configMap('stable-window: 30s', 'lab').replace('config-auto', 'other-auto'))).toEqual(
    DEFAULTS,
  );
});

test('config-autoscaler changes what it names alone; its _example is documentation', () => {
  expect(read(configMap('stable-window: 30s\n  _example: "not: read"'))).toEqual({
    ...DEFAULTS,
    stableWindowMs: 30_000,
  });
});

// A Service without annotations ends at line 15; the ConfigMap's first key is at line 21.
test.each<readonly [string, string, string | RegExp]>([
  [
    'a limit of config-autoscaler beside no maximum',
    all(service(), configMap('max-scale-limit: "5"')),
    'lab/x.yaml:21: max-scale = 0, must be in [1, max-scale-limit(5)] range',
  ],
  [
    'a second config-autoscaler that Knative would not read',
    all(service(), configMap('stable-window: 30s'), configMap('stable-window: 30s', 'lab')),
    'lab/x.yaml:24: Knative reads config-autoscaler only in the namespace knative-serving',
  ],
  [
    'a config-autoscaler that Knative would not read',
    all(service(), configMap('stable-window: 30s', 'lab')),
    'lab/x.yaml:17: Knative reads config-autoscaler only in the namespace knative-serving',
  ],
  [
    'an unknown key of config-autoscaler',
    all(service(), configMap('stable-windows: 30s')),
    'lab/x.yaml:21: stable-windows is not a known key; did you mean stable-window?',
  ],
  [
    'a bad value in config-autoscaler',
    all(service(), configMap('max-scale-up-rate: "1"')),
    'lab/x.yaml:21: max-scale-up-rate = 1, must be greater than 1.0',
  ],
  [
    'a config-autoscaler that Knative would not read, before one that it reads',
    all(service(), configMap('stable-window: 30s', 'lab'), configMap('stable-window: 30s')),
    'lab/x.yaml:17: Knative reads config-autoscaler only in the namespace knative-serving',
  ],
  [
    'a number in config-autoscaler',
    all(service(), configMap('min-scale: 1')),
    'lab/x.yaml:21: the key min-scale must be text; put it in quotes',
  ],
  [
    'two faults in config-autoscaler',
    all(service(), configMap('stable-windows: 30s\n  max-scale-up-rate: "1"')),
    /^lab\/x\.yaml:21: stable-windows is not a known key.*; lab\/x\.yaml:22: max-scale-up-rate = 1,/,
  ],
])('readPipeline with %s throws with file and line', async (_, text, message) => {
  await expect(readText(text)).rejects.toThrow(message);
});
