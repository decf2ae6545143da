import { expect, test } from 'vitest';
import { demandSettings } from './demand-settings.ts';

const settings = (
  demands: readonly string[],
  change: { readonly placement?: string; readonly seed?: string } = {},
) => demandSettings({ demands, placement: undefined, seed: undefined, home: 'state', ...change });

test('demandSettings of several demands: by stage, those of one stage added up', () => {
  expect(
    settings(
      [
        'data-processing=cpuTime:50ms@instead',
        'export=delay:exponential(mean=20ms)@after',
        'data-processing=payload:2KiB@after',
      ],
      { placement: 'workers:2', seed: '7' },
    ),
  ).toEqual({
    'demand-data-processing': 'cpuTime:50ms@instead payload:2KiB@after',
    'demand-export': 'delay:exponential(mean=20ms)@after',
    'demand-placement': 'workers:2',
    'demand-seed': '7',
    'demand-calibration': 'state/calibration.json',
  });
  expect(settings([])).toEqual({ 'demand-calibration': 'state/calibration.json' });
});

test('demandSettings of a stage that does not exist: names those that do', () => {
  expect(() => settings(['data-procesing=cpuTime:50ms@instead'])).toThrow(
    /use STAGE=DEMAND with one of campaign, .*; did you mean data-processing\?/,
  );
  expect(() => settings(['cpuTime:50ms@instead'])).toThrow('use STAGE=DEMAND');
});

test('demandSettings of a text that is no demand: says where the fault is', () => {
  expect(() => settings(['export=cpuTime:-1ms@after'])).toThrow(/column 9/);
});

test('demandSettings of a placement or seed that is none: says what to use', () => {
  expect(() => settings([], { placement: 'workers:65' })).toThrow('workers:1 to workers:64');
  expect(() => settings([], { seed: '1000000000' })).toThrow('from 0 to 999999999');
});
