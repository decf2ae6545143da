import { readMillicpus } from '#infra/autoscaling/quantity.ts';
import { FieldReader, type FieldsRead } from '#infra/autoscaling/field-reader.ts';
import type { NodeConfig } from './node-config.ts';

const MAX_NODES = 64;
const MAX_SERVICES = 64;

/** Reads a NodeScaler's spec. Defaults: thresholds 0.8 and 0.2, 60 s, 1 to 4 nodes of one CPU, at once. */
export function readNodeScaler(spec: unknown): FieldsRead<NodeConfig> {
  const reader = new FieldReader();
  const share = { min: 0, max: 10 };
  const seconds = { min: 0, max: 3_600 };
  const upperThreshold = reader.number(spec, ['upperThreshold'], { ...share, fallback: 0.8 });
  const lowerThreshold = reader.number(spec, ['lowerThreshold'], { ...share, fallback: 0.2 });
  if (lowerThreshold >= upperThreshold) {
    const detail = `lowerThreshold ${lowerThreshold} must be below upperThreshold ${upperThreshold}`;
    reader.fault(['lowerThreshold'], detail);
  }
  const periodS = reader.number(spec, ['periodSeconds'], { min: 0.5, max: 3_600, fallback: 60 });
  const count = { min: 1, max: MAX_NODES, integer: true };
  const minNodes = reader.number(spec, ['minNodes'], { ...count, fallback: 1 });
  const maxNodes = reader.number(spec, ['maxNodes'], { ...count, fallback: 4 });
  if (minNodes > maxNodes) {
    reader.fault(['minNodes'], `minNodes ${minNodes} is more than maxNodes ${maxNodes}`);
  }
  const addNodeS = reader.number(spec, ['addNodeSeconds'], { ...seconds, fallback: 0 });
  return reader.result({
    upperThreshold,
    lowerThreshold,
    periodMs: periodS * 1_000,
    minNodes,
    maxNodes,
    addNodeMs: addNodeS * 1_000,
    cpuMillisPerNode: cpuShare(reader, spec),
    services: services(reader, spec),
  });
}

function cpuShare(reader: FieldReader, spec: unknown): number {
  const found = FieldReader.at(spec, ['cpusPerNode']);
  if (found === undefined) return 1_000;
  const millis = readMillicpus(found);
  if (millis >= 10 && millis <= 64_000) return Math.round(millis);
  const shown = JSON.stringify(found);
  reader.fault(['cpusPerNode'], `cpusPerNode is ${shown}; use 10m to 64, such as "500m"`);
  return 1_000;
}

function services(reader: FieldReader, spec: unknown): NodeConfig['services'] {
  const found = FieldReader.at(spec, ['services']);
  if (!Array.isArray(found) || found.length === 0) {
    reader.fault(['services'], 'services is missing; name the Deployments that follow the nodes');
    return [];
  }
  if (found.length > MAX_SERVICES) {
    reader.fault(['services'], `services has ${found.length} entries; at most ${MAX_SERVICES}`);
    return [];
  }
  const seen = new Set<unknown>();
  return found.map((_, index) => {
    const path = ['services', String(index)];
    const name = FieldReader.at(spec, [...path, 'name']);
    if (typeof name !== 'string') reader.fault(path, 'a service needs a name');
    else if (seen.has(name)) reader.fault([...path, 'name'], `${name} is named twice`);
    seen.add(name);
    return {
      name: String(name),
      replicasPerNode: reader.number(spec, [...path, 'replicasPerNode'], {
        min: 1,
        max: 64,
        integer: true,
        fallback: 1,
      }),
    };
  });
}
