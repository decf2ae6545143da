import { expect, test } from 'vitest';
import { namePart } from '#kernel/core/ids.ts';
import { vehicleIdentity } from './identities.ts';

test('vehicleIdentity with the same seed and index: the same vehicle', () => {
  expect(vehicleIdentity(1, 0)).toEqual(vehicleIdentity(1, 0));
  expect(vehicleIdentity(1, 0)).toMatchInlineSnapshot(`
    {
      "phase": 0.2560070597101003,
      "session": "sa7c01be239ab",
      "vehicle": "veh-0001",
      "wallStartUs": 1767600000000000,
    }
  `);
});

test('vehicleIdentity of 100 vehicles: different sessions, names and starts, phases in [0, 1)', () => {
  const all = Array.from({ length: 100 }, (_, index) => vehicleIdentity(7, index));
  expect(new Set(all.map(({ session }) => session)).size).toBe(100);
  expect(new Set(all.map(({ wallStartUs }) => wallStartUs)).size).toBe(100);
  expect(all.map(({ vehicle }) => vehicle).slice(98)).toEqual(['veh-0099', 'veh-0100']);
  for (const { session, vehicle, phase } of all) {
    expect(session).toMatch(/^s[0-9a-f]{12}$/);
    expect(namePart(vehicle, 'vehicle')).toBe(vehicle);
    expect(phase).toBeGreaterThanOrEqual(0);
    expect(phase).toBeLessThan(1);
  }
});

test('vehicleIdentity with another seed: another session of the same vehicle', () => {
  expect(vehicleIdentity(2, 0).vehicle).toBe(vehicleIdentity(1, 0).vehicle);
  expect(vehicleIdentity(2, 0).session).not.toBe(vehicleIdentity(1, 0).session);
});
