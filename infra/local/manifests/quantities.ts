import { readBytes, readMillicpus } from '#infra/autoscaling/quantity.ts';
import { nodeAt, type LocatedNode } from './located-node.ts';
import { manifestError } from './manifest-error.ts';

/** What a replica asks for and may use at most; null: nothing is said. */
export interface ResourceQuantities {
  readonly cpuRequestMillis: number | null;
  readonly cpuLimitMillis: number | null;
  readonly memoryRequestBytes: number | null;
  readonly memoryLimitBytes: number | null;
}

/** `resources` of a container, in Kubernetes' quantities: `250m`, `0.5`, `128Mi`, `1G`. */
export function readResources(container: LocatedNode | undefined): ResourceQuantities {
  const at = (...names: string[]): LocatedNode | undefined =>
    container === undefined ? undefined : nodeAt(container, 'resources', ...names);
  const resources: ResourceQuantities = {
    cpuRequestMillis: millicpus(at('requests', 'cpu')),
    cpuLimitMillis: millicpus(at('limits', 'cpu')),
    memoryRequestBytes: bytes(at('requests', 'memory')),
    memoryLimitBytes: bytes(at('limits', 'memory')),
  };
  const { cpuRequestMillis, cpuLimitMillis, memoryRequestBytes, memoryLimitBytes } = resources;
  refuseAbove(at('requests', 'cpu'), cpuRequestMillis, cpuLimitMillis, 'm of CPU');
  refuseAbove(at('requests', 'memory'), memoryRequestBytes, memoryLimitBytes, ' bytes');
  return resources;
}

function textOf(node: LocatedNode): string {
  const value = node.kind === 'scalar' ? node.value : null;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Thousandths of a CPU, at least 1. */
function millicpus(node: LocatedNode | undefined): number | null {
  if (node === undefined) return null;
  const millis = readMillicpus(textOf(node));
  if (millis >= 1 && millis <= 1_000_000) return Math.round(millis);
  throw manifestError(node.at, `"${textOf(node)}" is not a CPU quantity such as 250m or 0.5`);
}

function bytes(node: LocatedNode | undefined): number | null {
  if (node === undefined) return null;
  const value = readBytes(textOf(node));
  if (value >= 1 && value <= 2 ** 50) return Math.round(value);
  throw manifestError(node.at, `"${textOf(node)}" is not a memory quantity such as 128Mi or 1G`);
}

function refuseAbove(
  node: LocatedNode | undefined,
  request: number | null,
  limit: number | null,
  unit: string,
): void {
  if (node === undefined || request === null || limit === null || request <= limit) return;
  throw manifestError(node.at, `the request of ${request}${unit} is above the limit of ${limit}`);
}
