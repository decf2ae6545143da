import { expect, test } from 'vitest';
import { nearestNames } from './nearest-names.ts';

const NAMES = ['Motion.Speed', 'Motion.YawRate', 'Wheels.SpeedFL', 'Wheels.SpeedFR', 'A.B'];

test.each([
  ['Motion.Speed', ['Motion.Speed']], // itself
  ['motion.speed', ['Motion.Speed']], // case only
  ['Motion.Sepd', ['Motion.Speed']], // swapped and left out
  ['Wheels.SpeedFX', ['Wheels.SpeedFL', 'Wheels.SpeedFR']], // equal distance: by name
  ['WheelsSpeedFL', ['Wheels.SpeedFL', 'Wheels.SpeedFR']], // without the dot
  ['Engine.Torque', []], // nothing alike
  ['', []],
])('nearestNames of %j', (wanted, expected) => {
  expect(nearestNames(wanted, NAMES, 2)).toEqual(expected);
});

test('nearestNames gives at most as many as asked for', () => {
  expect(nearestNames('Wheels.SpeedFX', NAMES, 1)).toEqual(['Wheels.SpeedFL']);
});
