import { expect, test } from 'vitest';
import { choosePreferred, chooseVarying } from './choose-signals.ts';
import type { PlotChoice } from './choose-signals.ts';
import type { SignalSource } from './read-signals.ts';

const source = (name: string, unit = ''): SignalSource => {
  const [message = '', signal = ''] = name.split('.');
  return {
    path: `${message}.parquet`,
    message,
    signal,
    column: signal,
    unit,
    factor: 1,
    offset: 0,
  };
};

const names = (choices: readonly PlotChoice[]): readonly string[] =>
  choices.map(({ title, signals }) => `${title}: ${signals.map(({ signal }) => signal).join(' ')}`);

test('choosePreferred of a car: speed, steering angle, wheel speeds, each from one message', () => {
  const wheels = ['FL', 'FR', 'RL', 'RR'].map((wheel) =>
    source(`WHEEL_SPEEDS.WHEEL_SPEED_${wheel}`, 'km/h'),
  );
  const signals = [
    source('STEER_A.STEER_ANGLE'),
    source('STEER_B.STEER_ANGLE', 'deg'),
    source('WHEEL_SPEEDS.WHEEL_SPEED_FL_FAULT'),
    ...wheels,
    source('SPEED.SPEED', 'km/h'),
    source('SPEED.CHECKSUM'),
  ];
  const choices = choosePreferred(signals);
  expect(names(choices)).toEqual([
    'Speed: SPEED',
    'Steering angle: STEER_ANGLE',
    'Wheel speeds: WHEEL_SPEED_FL WHEEL_SPEED_FR WHEEL_SPEED_RL WHEEL_SPEED_RR',
  ]);
  // The one with a unit is what a person can read.
  expect(choices[1]?.signals[0]?.message).toBe('STEER_B');
});

test.each(['vehicle_speed', 'VehicleSpeed', 'Car_Spd', 'EgoSpeed'])(
  'choosePreferred of %s: a speed',
  (signal) => {
    expect(names(choosePreferred([source(`M.${signal}`)]))).toEqual([`Speed: ${signal}`]);
  },
);

test('choosePreferred without any known name: nothing', () => {
  expect(choosePreferred([source('M.TEMPERATURE')])).toEqual([]);
});

test('chooseVarying: the most different values, no counters, nothing that stands still', () => {
  const signals = [
    { source: source('M.STILL'), values: Float64Array.of(1, 1, 1, 1) },
    { source: source('M.COUNTER'), values: Float64Array.of(1, 2, 3, 4) },
    { source: source('M.SOME'), values: Float64Array.of(1, 2, Number.NaN, 1) },
    { source: source('M.MOST'), values: Float64Array.of(1, 2, 3, 1) },
  ];
  expect(names(chooseVarying(signals, 2))).toEqual(['M.MOST: MOST', 'M.SOME: SOME']);
});
