import { expect, test, vi } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { randomStream } from '../core/random.ts';
import { createDemandRunner } from './demand-runner.ts';
import { parseDemands } from './parse-demand.ts';

vi.mock('./runner-machine.ts', () => ({
  openRunnerMachine: () => {
    throw new Error('a burner was opened');
  },
}));

const open = (text: string) =>
  createDemandRunner(parseDemands(text), {
    placement: { workers: 64, maxQueue: 1 },
    random: randomStream(1, 'demand'),
    clock: new VirtualClock(),
  });

test.each(['', 'delay:1ms@before payload:1KiB@after'])(
  'a runner of "%s" opens no burner and starts no thread',
  async (text) => {
    await expect(open(text)).resolves.toBeDefined();
  },
);

test.each(['cpuTime:1ms@before', 'work:1ms@before', 'memory:1MiB/1ms@before'])(
  'a runner of "%s" opens its burner at the start, so that its faults show there',
  async (text) => {
    await expect(open(text)).rejects.toThrow('a burner was opened');
  },
);
