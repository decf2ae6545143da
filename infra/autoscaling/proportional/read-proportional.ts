import { FieldReader, type FieldsRead } from '#infra/autoscaling/field-reader.ts';
import type { LadderConfig, LadderStep, LinearConfig } from './proportional.ts';

const MOST = 1_000_000;
const MAX_STEPS = 1_000;

/** Reads the key `linear` of the autoscaler's ConfigMap: JSON. */
export function readLinear(text: string): FieldsRead<LinearConfig> {
  const reader = new FieldReader();
  const root = parse(reader, text);
  const amount = (name: string, integer = false): number =>
    reader.number(root, [name], { min: 0, max: MOST, integer, fallback: 0 });
  const coresPerReplica = amount('coresPerReplica');
  const nodesPerReplica = amount('nodesPerReplica');
  // 0 means the default of 1 for the minimum, and no maximum.
  const min = Math.max(1, amount('min', true));
  const most = amount('max', true);
  if (coresPerReplica === 0 && nodesPerReplica === 0) {
    reader.fault([], 'give coresPerReplica or nodesPerReplica, above 0');
  }
  if (most !== 0 && most < min) reader.fault(['max'], `max ${most} is less than min ${min}`);
  return reader.result({
    coresPerReplica,
    nodesPerReplica,
    min,
    max: most === 0 ? null : most,
    preventSinglePointFailure: flag(reader, root, 'preventSinglePointFailure'),
    includeUnschedulableNodes: flag(reader, root, 'includeUnschedulableNodes'),
  });
}

/** Reads the key `ladder`: JSON, steps in any order. */
export function readLadder(text: string): FieldsRead<LadderConfig> {
  const reader = new FieldReader();
  const root = parse(reader, text);
  return reader.result({
    coresToReplicas: steps(reader, root, 'coresToReplicas'),
    nodesToReplicas: steps(reader, root, 'nodesToReplicas'),
    includeUnschedulableNodes: flag(reader, root, 'includeUnschedulableNodes'),
  });
}

function parse(reader: FieldReader, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    reader.fault([], `it is not JSON: ${error.message}`);
    return {};
  }
}

function flag(reader: FieldReader, root: unknown, name: string): boolean {
  const found = FieldReader.at(root, [name]);
  if (found === undefined || typeof found === 'boolean') return found ?? false;
  reader.fault([name], `${name} is ${JSON.stringify(found)}; use true or false`);
  return false;
}

function steps(reader: FieldReader, root: unknown, name: string): readonly LadderStep[] {
  const found = FieldReader.at(root, [name]);
  if (found === undefined) return [];
  if (!Array.isArray(found) || found.length > MAX_STEPS) {
    reader.fault([name], `${name} must be a list of at most ${MAX_STEPS}`);
    return [];
  }
  const read = found.map((step: unknown, index): LadderStep => {
    const pair = Array.isArray(step) && step.length === 2 ? (step as readonly unknown[]) : [];
    const [from, replicas] = pair;
    if (isCount(from) && isCount(replicas)) return [from, replicas];
    const shown = JSON.stringify(step);
    reader.fault([name, String(index)], `${shown} is not a step such as [8, 2]`);
    return [0, 0];
  });
  return read.toSorted(([a], [b]) => a - b);
}

const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST;
