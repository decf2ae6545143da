import { unreachable } from '../core/assert.ts';
import { SIZE, TIME, type Quantity } from './demand-grammar.ts';
import type { Amount, Demand } from './demand.ts';

/** The text that `parseDemands` reads back as the same demand. */
export function formatDemand(demand: Demand): string {
  switch (demand.kind) {
    case 'work': {
      const option = demand.rate === 'local' ? ';rate=local' : '';
      return `work:${formatAmount(demand.ms, TIME)}@${demand.place}${option}`;
    }
    case 'cpuTime':
    case 'delay':
      return `${demand.kind}:${formatAmount(demand.ms, TIME)}@${demand.place}`;
    case 'memory': {
      const hold = formatQuantity(demand.holdMs, TIME);
      return `memory:${formatAmount(demand.bytes, SIZE)}/${hold}@${demand.place}`;
    }
    case 'payload':
      return `payload:${formatAmount(demand.bytes, SIZE)}@${demand.place}`;
    default:
      return unreachable(demand);
  }
}

function formatAmount(amount: Amount, quantity: Quantity): string {
  const text = (value: number): string => formatQuantity(value, quantity);
  switch (amount.kind) {
    case 'constant':
      return text(amount.value);
    case 'uniform':
      return `uniform(min=${text(amount.min)},max=${text(amount.max)})`;
    case 'normal':
      return `normal(mean=${text(amount.mean)},sd=${text(amount.sd)})`;
    case 'exponential':
      return `exponential(mean=${text(amount.mean)})`;
    case 'lognormal':
      return `lognormal(mean=${text(amount.mean)},cv=${amount.cv})`;
    case 'empirical':
      return `empirical(file=${amount.file})`;
    default:
      return unreachable(amount);
  }
}

/** Times in ms; sizes in the largest unit that leaves a whole number. */
function formatQuantity(value: number, quantity: Quantity): string {
  if (quantity === TIME || value === 0) return `${value}${quantity === TIME ? 'ms' : 'B'}`;
  const [unit, scale] = Object.entries(quantity.units).findLast(
    ([, size]) => value % size === 0,
  ) ?? ['B', 1];
  return `${value / scale}${unit}`;
}
