import { expect, test } from 'vitest';
import { parseChannelTemplate, parseGoDurationMs } from './channel-template.ts';

const template = (config: string, consumer = '{}'): string =>
  `{kind: NatsJetStreamChannel, spec: {stream: {config: ${config}}, consumerConfigTemplate: ${consumer}}}`;

test('parseChannelTemplate reads what the local broker honours', () => {
  expect(parseChannelTemplate(template('{maxAge: 1h, maxBytes: 5}', '{ackWait: 45s}'))).toEqual({
    limits: { maxAgeMs: 3_600_000, maxBytes: 5 },
    ackWaitMs: 45_000,
  });
  expect(parseChannelTemplate('kind: NatsJetStreamChannel')).toEqual({ limits: {} });
});

test.each([
  ['', 'kind = "undefined"'],
  ['kind: KafkaChannel', 'kind = "KafkaChannel"'],
  [template('{maxBytes: -1}'), 'maxBytes = "-1"'],
  [template('{maxAge: 1d}'), 'maxAge = "1d"'],
  [template('{maxAge: 0s}'), 'maxAge = "0s"'],
  [template('{}', '{ackWait: 30}'), 'ackWait = "30"'],
])('parseChannelTemplate of %j names the field', (text, message) => {
  expect(() => parseChannelTemplate(text)).toThrow(message);
});

test.each([
  ['24h', 86_400_000],
  ['1h30m', 5_400_000],
  ['2.5s', 2_500],
  ['300ms', 300],
  ['5', undefined],
  ['', undefined],
  ['1d', undefined],
])('parseGoDurationMs of %s is %s', (text, ms) => {
  expect(parseGoDurationMs(text)).toBe(ms);
});
