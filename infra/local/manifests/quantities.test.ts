import { expect, test } from 'vitest';
import { parseYaml } from './parse-yaml.ts';
import { readResources } from './quantities.ts';

const read = (resources: string) =>
  readResources(parseYaml(`resources: ${resources}`, 'x.yaml')[0]);

const NOTHING = {
  cpuRequestMillis: null,
  cpuLimitMillis: null,
  memoryRequestBytes: null,
  memoryLimitBytes: null,
};

test('readResources without resources says nothing of any', () => {
  expect(readResources(undefined)).toEqual(NOTHING);
  expect(read('{}')).toEqual(NOTHING);
});

// Kubernetes' quantities: m is a thousandth, k, M, G powers of 1000, Ki, Mi, Gi powers of 1024.
test.each([
  ['250m', 250],
  ['0.5', 500],
  ['2', 2_000],
  ['"1"', 1_000],
  ['0.001', 1],
  ['1000', 1_000_000],
])('readResources of %s CPU is %i thousandths', (text, millis) => {
  expect(read(`{requests: {cpu: ${text}}}`)).toEqual({ ...NOTHING, cpuRequestMillis: millis });
  expect(read(`{limits: {cpu: ${text}}}`)).toEqual({ ...NOTHING, cpuLimitMillis: millis });
});

test.each([
  ['1', 1],
  ['128Mi', 134_217_728],
  ['1G', 1_000_000_000],
  ['1.5Gi', 1_610_612_736],
  ['2k', 2_000],
  ['"64Ki"', 65_536],
  ['1M', 1_000_000],
])('readResources of %s memory is %i bytes', (text, bytes) => {
  expect(read(`{requests: {memory: ${text}}}`)).toEqual({ ...NOTHING, memoryRequestBytes: bytes });
  expect(read(`{limits: {memory: ${text}}}`)).toEqual({ ...NOTHING, memoryLimitBytes: bytes });
});

test.each([
  ['a CPU of 0', '{limits: {cpu: 0}}', '"0" is not a CPU quantity'],
  ['a CPU below a thousandth', '{limits: {cpu: 0.0001}}', '"0.0001" is not a CPU quantity'],
  ['more than 1000 CPUs', '{limits: {cpu: 1001}}', '"1001" is not a CPU quantity'],
  ['a CPU in bytes', '{limits: {cpu: 1Gi}}', '"1Gi" is not a CPU quantity'],
  ['a negative CPU', '{limits: {cpu: -1}}', '"-1" is not a CPU quantity'],
  ['memory in thousandths', '{limits: {memory: 5m}}', '"5m" is not a memory quantity'],
  ['an unknown unit', '{requests: {memory: 1MB}}', '"1MB" is not a memory quantity'],
  ['no memory', '{requests: {memory: 0}}', '"0" is not a memory quantity'],
  ['a map', '{requests: {memory: {}}}', '"" is not a memory quantity'],
  [
    'a request above the limit',
    '{requests: {cpu: 2}, limits: {cpu: 500m}}',
    'the request of 2000m of CPU is above the limit of 500',
  ],
  [
    'a memory request above the limit',
    '{requests: {memory: 1Ki}, limits: {memory: 1k}}',
    'the request of 1024 bytes is above the limit of 1000',
  ],
])('readResources with %s throws with file and line', (_, resources, message) => {
  expect(() => read(resources)).toThrow(`x.yaml:1: ${message}`);
});

test('readResources takes a request at the limit', () => {
  expect(read('{requests: {cpu: 1}, limits: {cpu: 1000m}}')).toMatchObject({
    cpuRequestMillis: 1_000,
    cpuLimitMillis: 1_000,
  });
});
