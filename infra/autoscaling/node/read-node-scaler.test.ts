import { expect, test } from 'vitest';
import { readNodeScaler } from './read-node-scaler.ts';

const services = [{ name: 'export', replicasPerNode: 2 }, { name: 'data-provider' }];

test('what is not said has our defaults; the study publishes no figures', () => {
  expect(readNodeScaler({ services })).toEqual({
    value: {
      upperThreshold: 0.8,
      lowerThreshold: 0.2,
      periodMs: 60_000,
      minNodes: 1,
      maxNodes: 4,
      addNodeMs: 0,
      cpuMillisPerNode: 1_000,
      services: [
        { name: 'export', replicasPerNode: 2 },
        { name: 'data-provider', replicasPerNode: 1 },
      ],
    },
    faults: [],
  });
});

test.each([
  ['500m', 500],
  ['1000m', 1_000],
  ['0.5', 500],
  [2, 2_000],
  ['10m', 10],
])('cpusPerNode %j is %i thousandths', (cpusPerNode, millis) => {
  expect(readNodeScaler({ services, cpusPerNode }).value?.cpuMillisPerNode).toBe(millis);
});

test.each<readonly [spec: object, path: string, message: string]>([
  [{ services: [] }, 'services', 'services is missing; name the Deployments that follow the nodes'],
  [{ services: Array(65).fill(services[0]) }, 'services', 'services has 65 entries; at most 64'],
  [{ services: [{}] }, 'services.0', 'a service needs a name'],
  [{ services: [services[0], services[0]] }, 'services.1.name', 'export is named twice'],
  [
    { services: [{ name: 'export', replicasPerNode: 0 }] },
    'services.0.replicasPerNode',
    'replicasPerNode is 0; it must be an integer from 1 to 64',
  ],
  [
    { lowerThreshold: 0.8 },
    'lowerThreshold',
    'lowerThreshold 0.8 must be below upperThreshold 0.8',
  ],
  [
    { upperThreshold: 11 },
    'upperThreshold',
    'upperThreshold is 11; it must be a number from 0 to 10',
  ],
  [{ minNodes: 5 }, 'minNodes', 'minNodes 5 is more than maxNodes 4'],
  [{ maxNodes: 65 }, 'maxNodes', 'maxNodes is 65; it must be an integer from 1 to 64'],
  [
    { periodSeconds: 0 },
    'periodSeconds',
    'periodSeconds is 0; it must be a number from 0.5 to 3600',
  ],
  [
    { addNodeSeconds: -1 },
    'addNodeSeconds',
    'addNodeSeconds is -1; it must be a number from 0 to 3600',
  ],
  [{ cpusPerNode: '9m' }, 'cpusPerNode', 'cpusPerNode is "9m"; use 10m to 64, such as "500m"'],
  [{ cpusPerNode: '1Gi' }, 'cpusPerNode', 'cpusPerNode is "1Gi"; use 10m to 64, such as "500m"'],
])('fault: %j', (spec, path, message) => {
  const { value, faults } = readNodeScaler({ services, ...spec });
  expect(value).toBeUndefined();
  expect(faults).toContainEqual({ path: path.split('.'), message });
});
