import { expect, test } from 'vitest';
import { createKernel, INCREMENT, MULTIPLIER, SEED } from './wasm-kernel.ts';

/** The same generator in big integers. */
function generate(steps: number): bigint {
  let state = SEED;
  for (let step = 0; step < steps; step++) {
    state = BigInt.asUintN(64, state * MULTIPLIER + INCREMENT);
  }
  return state;
}

test('createKernel runs one step of the 64-bit generator for each step asked', () => {
  for (const steps of [0, 1, 2, 1000]) {
    const kernel = createKernel();
    kernel.run(steps);
    expect(kernel.state()).toBe(generate(steps));
  }
});

test('a kernel carries its state from call to call', () => {
  const kernel = createKernel();
  for (const steps of [300, 0, 600, 100]) kernel.run(steps);
  expect(kernel.state()).toBe(generate(1000));
});

test('kernels do not share their state', () => {
  const [one, other] = [createKernel(), createKernel()];
  one.run(5);
  expect(other.state()).toBe(SEED);
});

test('the hash of the kernel is the one that results were made with', () => {
  // A changed kernel is another unit of work: stored calibrations and results are no longer comparable.
  expect(createKernel().sha256).toBe(
    'dfe153f5e483d06e7d584f9b98890567267d61597d2a72c172fce578a6741859',
  );
});
