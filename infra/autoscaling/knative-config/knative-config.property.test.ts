import fc from 'fast-check';
import { expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import { ANNOTATIONS, GROUP, KNOWN_ANNOTATIONS, KPA_CLASS } from './annotation-keys.ts';
import { parseAutoscalingAnnotations } from './autoscaling-annotations.ts';
import { parseConfigAutoscaler } from './config-autoscaler.ts';
import type { Parsed } from './config-fault.ts';
import { CONFIG_KEYS } from './config-keys.ts';
import { durationText, readDurationMs, readFloat, readInt32 } from './go-values.ts';
import { resolveKpaConfig } from './resolve-kpa.ts';

const DEFAULTS = must(parseConfigAutoscaler({}).value, 'the default configuration');

/** Texts that come near to what a key may hold, and texts of any kind. */
const texts = fc.oneof(
  fc.integer({ min: -3, max: 300 }).map(String),
  fc.double({ min: -2, max: 1_200, noNaN: true }).map(String),
  fc.integer({ min: -2, max: 4_000 }).map((seconds) => `${seconds}s`),
  fc.constantFrom('true', 'FALSE', 'rps', 'concurrency', 'cpu', KPA_CLASS, 'other', '2147483648'),
  fc.string({ maxLength: 8 }),
);

function expectWhole(data: Readonly<Record<string, string>>, result: Parsed<unknown>): void {
  expect(result.value === undefined).toBe(result.faults.length > 0);
  for (const { key, message } of result.faults) {
    expect(Object.keys(data)).toContain(key);
    expect(message).toContain(key);
  }
}

test('parseConfigAutoscaler of any texts: a value, or faults at keys that are there', () => {
  const keys = fc.oneof(fc.constantFrom(...Object.keys(CONFIG_KEYS)), fc.string());
  fc.assert(
    fc.property(fc.dictionary(keys, texts, { maxKeys: 8 }), (data) => {
      expectWhole(data, parseConfigAutoscaler(data));
    }),
  );
});

test('parseAutoscalingAnnotations of any texts: a value, or faults at keys that are there', () => {
  const keys = fc.oneof(
    fc.constantFrom(...KNOWN_ANNOTATIONS),
    fc.string().map((name) => `${GROUP}/${name}`),
  );
  fc.assert(
    fc.property(fc.dictionary(keys, texts, { maxKeys: 8 }), (data) => {
      expectWhole(data, parseAutoscalingAnnotations(data, DEFAULTS));
    }),
  );
});

test('what is accepted resolves within the bounds that the KPA relies on', () => {
  const keys = fc.constantFrom(...Object.keys(ANNOTATIONS).map((name) => `${GROUP}/${name}`));
  const concurrencies = fc.integer({ min: 0, max: 1_000 });
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.dictionary(keys, texts, { maxKeys: 3 }),
      concurrencies,
      (data, containerConcurrency) => {
        const { value } = parseAutoscalingAnnotations(data, DEFAULTS);
        // Another class is nobody's business here; the manifests' reader refuses it.
        if (value === undefined || value.class !== KPA_CLASS) return;
        accepted += 1;
        const kpa = resolveKpaConfig(value, DEFAULTS, { containerConcurrency });
        expect(kpa.targetPerReplica).toBeGreaterThanOrEqual(0.01);
        expect(kpa.targetPerReplica).toBeLessThanOrEqual(kpa.totalPerReplica);
        if (kpa.metric === 'concurrency' && containerConcurrency > 0) {
          expect(kpa.totalPerReplica).toBeLessThanOrEqual(containerConcurrency);
        }
        expect(kpa.stableWindowMs % 1_000).toBe(0);
        expect(kpa.stableWindowMs).toBeGreaterThanOrEqual(6_000);
        expect(kpa.stableWindowMs).toBeLessThanOrEqual(3_600_000);
        expect(kpa.minScale).toBeLessThanOrEqual(kpa.maxScale ?? Number.POSITIVE_INFINITY);
        expect(kpa.initialScale).toBeGreaterThanOrEqual(1);
        for (const figure of Object.values(kpa)) {
          if (typeof figure === 'number') expect(Number.isFinite(figure)).toBe(true);
        }
      },
    ),
  );
  expect(accepted).toBeGreaterThan(10);
});

test('a duration that is printed is read back', () => {
  const ns = fc.bigInt({ min: 0n, max: 3_600_000_000_000n * 24n });
  fc.assert(
    fc.property(ns, fc.boolean(), (length, negative) => {
      const ms = (Number(length) / 1e6) * (negative ? -1 : 1);
      const read = readDurationMs(durationText(ms));
      expect('value' in read ? read.value : read.fault).toBeCloseTo(ms, 6);
    }),
  );
});

test('no text makes a reader throw or give anything but a finite number', () => {
  fc.assert(
    fc.property(fc.oneof(texts, fc.string()), (text) => {
      for (const read of [readInt32(text), readFloat(text), readDurationMs(text)]) {
        expect('value' in read ? Number.isFinite(read.value) : read.fault !== '').toBe(true);
      }
    }),
  );
});
