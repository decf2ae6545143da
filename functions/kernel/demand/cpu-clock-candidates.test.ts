import { expect, test } from 'vitest';
import { cpuClockCandidates } from './cpu-clock-candidates.ts';
import { createKernel } from './wasm-kernel.ts';

test.each(['main', 'worker'] as const)(
  'the clocks of a %s thread move with its work',
  async (of) => {
    const kernel = createKernel();
    for (const { kind, open } of cpuClockCandidates(of)) {
      const read = await open();
      expect(read, kind).toBeDefined();
      const before = read?.() ?? 0;
      kernel.run(8_000_000);
      expect(read?.(), kind).toBeGreaterThan(before);
    }
  },
);

test('a worker never takes the clock of the whole process', () => {
  expect(cpuClockCandidates('worker').map(({ kind }) => kind)).toEqual(['pair', 'wasi']);
  expect(cpuClockCandidates('main').map(({ kind }) => kind)).toEqual(['pair', 'wasi', 'process']);
});

test('opening the WASI clock silences its own warning and no other', async () => {
  const warnings: string[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- kept to be put back as it was
  const original = process.emitWarning;
  const record = (warning: string | Error): void => void warnings.push(String(warning));
  process.emitWarning = record;
  try {
    const wasi = cpuClockCandidates('worker').find(({ kind }) => kind === 'wasi');
    const opening = wasi?.open();
    process.emitWarning('something else');
    await opening;
    expect(Reflect.get(process, 'emitWarning')).toBe(record);
    expect(warnings).toEqual(['something else']);
  } finally {
    process.emitWarning = original;
  }
});
