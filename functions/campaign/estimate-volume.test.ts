import { expect, test } from 'vitest';
import { estimateVolume } from './estimate-volume.ts';
import { parseCampaign } from './parse-campaign.ts';
import { testDatabase } from './testing/dbc-text.ts';

const databases = new Map([['can0', testDatabase()]]);
const SHA = 'a'.repeat(64);

function estimate(text: string, known = databases) {
  const decoders = known.size === 0 ? '' : `decoders: { can0: { sha256: ${SHA} } }`;
  const { definition, reader } = parseCampaign(
    new TextEncoder().encode(`id: c\n${decoders}\n${text}`),
  );
  expect(reader.faults).toEqual([]);
  return estimateVolume(definition, known);
}

test('estimateVolume + no signals counts all messages, with the stated rate where none is known', () => {
  // Motion 10/s with 2 signals, Lamps assumed 13/s with 1; raster 10/s of 3 signals.
  const result = estimate('rawFrames: none\nupload: { everyMs: 10000 }');
  expect(result).toEqual({
    signals: 3,
    framesPerS: 23,
    samplesPerS: 33,
    uploadBytesPerS: 104, // 23 x 4.5 = 103.5
    storedBytesPerS: 148, // 103.5 + (33 + 30) x 0.7 = 147.6
    storedBytesPerHour: 531_360,
    assumptions: [
      'can0: 1 of 2 messages have no cycle time in the DBC; 13 frames/s each',
      '4.5 bytes a frame and 0.7 bytes a value, compressed',
    ],
  });
});

test('estimateVolume + signals counts their messages, each at its most eager signal', () => {
  const rules = (speed: string, yaw: string) =>
    `rawFrames: none\nsignals: [{ name: Motion.Speed, record: ${speed} }, { name: Motion.YawRate, record: ${yaw} }]`;
  expect(estimate(rules('{ everyMs: 1000 }', '{ everyMs: 500 }')).framesPerS).toBe(2);
  // No faster than the message itself is sent.
  expect(estimate(rules('{ everyMs: 1000 }', '{ onChange: {} }')).framesPerS).toBe(10);
  expect(estimate(rules('all', '{ everyMs: 500 }')).framesPerS).toBe(10);
});

test('estimateVolume + all raw frames counts at least the rate of a measured bus', () => {
  const result = estimate('rawFrames: all\nupload: { everyMs: 1000 }');
  expect(result).toMatchObject({ framesPerS: 824, uploadBytesPerS: 4_944, samplesPerS: 33 });
  expect(result.assumptions).toContain('all frames: at least 824 frames/s a bus');
});

test('estimateVolume + raw frames without any decoder counts one bus', () => {
  const result = estimate('rawFrames: all', new Map());
  expect(result).toMatchObject({ framesPerS: 824, samplesPerS: 0 });
  expect(result.assumptions).toContain('one bus');
});

test('estimateVolume + listed raw ids counts each at the stated rate', () => {
  const raw = 'rawFrames: [{ bus: can0, id: 1 }, { bus: can1, id: 2 }]';
  expect(estimate(raw, new Map()).framesPerS).toBe(26);
});
