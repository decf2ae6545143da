import { assert } from '#kernel/core/assert.ts';
import { parsed, unknownKeys, type ConfigFault, type Parsed } from './config-fault.ts';
import { CONFIG_KEYS, EXAMPLE_KEY, type ConfigKey } from './config-keys.ts';
import {
  durationText,
  isWholeSeconds,
  readBool,
  readDurationMs,
  readFloat,
  readInt32,
  type GoValue,
} from './go-values.ts';

/** What all revisions have in common where their annotations say nothing. */
export interface AutoscalerConfig {
  readonly podAutoscalerClass: string;
  readonly enableScaleToZero: boolean;
  readonly allowZeroInitialScale: boolean;
  /** Share of a replica's concurrency that is aimed at: 0.7. */
  readonly concurrencyTargetFraction: number;
  readonly concurrencyTargetDefault: number;
  readonly rpsTargetDefault: number;
  /** The same share for requests per second; no key sets it. */
  readonly rpsTargetFraction: number;
  readonly targetBurstCapacity: number;
  readonly activatorCapacity: number;
  readonly stableWindowMs: number;
  readonly panicWindowPercentage: number;
  readonly panicThresholdPercentage: number;
  readonly maxScaleUpRate: number;
  readonly maxScaleDownRate: number;
  readonly initialScale: number;
  readonly minScale: number;
  /** 0: no maximum. */
  readonly maxScale: number;
  /** 0: no limit. */
  readonly maxScaleLimit: number;
  readonly scaleDownDelayMs: number;
  readonly scaleToZeroGracePeriodMs: number;
  readonly scaleToZeroPodRetentionPeriodMs: number;
}

/** Smallest target, by annotation or as the product of two settings. */
export const MIN_TARGET = 0.01;
export const MIN_WINDOW_MS = 6_000;
export const MAX_WINDOW_MS = 3_600_000;
export const PANIC_WINDOW_PERCENTAGE = { min: 1, max: 100 } as const;

/**
 * Reads `data` of the ConfigMap; keys it does not have are at their defaults. Upstream stops at the
 * first fault, this names all: first those of single values, and when there are none, those of rules.
 */
export function parseConfigAutoscaler(
  data: Readonly<Record<string, string>>,
): Parsed<AutoscalerConfig> {
  const reader = new ConfigReader(data);
  const config = readConfig(reader);
  const known = [...Object.keys(CONFIG_KEYS), EXAMPLE_KEY];
  const faults = [...unknownKeys(Object.keys(data), known), ...reader.faults];
  if (reader.faults.length > 0) return parsed(faults, () => config);
  for (const { keys, fault } of RULES) {
    const message = fault(config);
    if (message === undefined) continue;
    // A rule between two keys is broken by the one that is written down.
    const key = keys.find((candidate) => Object.hasOwn(data, candidate)) ?? keys[0];
    faults.push({ key, message });
  }
  return parsed(faults, () => config);
}

class ConfigReader {
  readonly faults: ConfigFault[] = [];
  readonly #data: Readonly<Record<string, string>>;

  constructor(data: Readonly<Record<string, string>>) {
    this.#data = data;
  }

  text(key: ConfigKey): string {
    return (this.#written(key) ?? CONFIG_KEYS[key].default).trim();
  }

  read<T>(key: ConfigKey, as: (text: string) => GoValue<T>): T {
    const read = as(this.#written(key) ?? CONFIG_KEYS[key].default);
    if ('value' in read) return read.value;
    this.faults.push({ key, message: `failed to parse "${key}": ${read.fault}` });
    return this.#default(key, as);
  }

  #default<T>(key: ConfigKey, as: (text: string) => GoValue<T>): T {
    const read = as(CONFIG_KEYS[key].default);
    assert('value' in read, `the default of ${key} can be read`);
    return read.value;
  }

  #written(key: ConfigKey): string | undefined {
    return Object.hasOwn(this.#data, key) ? this.#data[key] : undefined;
  }
}

function readConfig(reader: ConfigReader): AutoscalerConfig {
  const number = (key: ConfigKey): number => reader.read(key, readFloat);
  const integer = (key: ConfigKey): number => reader.read(key, readInt32);
  const durationMs = (key: ConfigKey): number => reader.read(key, readDurationMs);
  const percentage = number('container-concurrency-target-percentage');
  return {
    podAutoscalerClass: reader.text('pod-autoscaler-class'),
    enableScaleToZero: reader.read('enable-scale-to-zero', readBool),
    allowZeroInitialScale: reader.read('allow-zero-initial-scale', readBool),
    // Older ConfigMaps hold a fraction: 0.55 and 55 are the same, 1 is all of it and not a hundredth.
    concurrencyTargetFraction: percentage > 1 ? percentage / 100 : percentage,
    concurrencyTargetDefault: number('container-concurrency-target-default'),
    rpsTargetDefault: number('requests-per-second-target-default'),
    rpsTargetFraction: 0.7,
    targetBurstCapacity: number('target-burst-capacity'),
    activatorCapacity: number('activator-capacity'),
    stableWindowMs: durationMs('stable-window'),
    panicWindowPercentage: number('panic-window-percentage'),
    panicThresholdPercentage: number('panic-threshold-percentage'),
    maxScaleUpRate: number('max-scale-up-rate'),
    maxScaleDownRate: number('max-scale-down-rate'),
    initialScale: integer('initial-scale'),
    minScale: integer('min-scale'),
    maxScale: integer('max-scale'),
    maxScaleLimit: integer('max-scale-limit'),
    scaleDownDelayMs: durationMs('scale-down-delay'),
    scaleToZeroGracePeriodMs: durationMs('scale-to-zero-grace-period'),
    scaleToZeroPodRetentionPeriodMs: durationMs('scale-to-zero-pod-retention-period'),
  };
}

interface Rule {
  readonly keys: readonly [ConfigKey, ...ConfigKey[]];
  /** Knative's own message when the rule is broken. */
  readonly fault: (config: AutoscalerConfig) => string | undefined;
}

const rule = (keys: Rule['keys'], fault: Rule['fault']): Rule => ({ keys, fault });

const durations: readonly Rule[] = [
  rule(['scale-to-zero-grace-period'], ({ scaleToZeroGracePeriodMs: ms }) =>
    ms > 0 ? undefined : `scale-to-zero-grace-period must be positive, was: ${durationText(ms)}`,
  ),
  rule(['scale-down-delay'], ({ scaleDownDelayMs: ms }) =>
    ms < 0 ? `scale-down-delay cannot be negative, was: ${durationText(ms)}` : undefined,
  ),
  rule(['scale-down-delay'], ({ scaleDownDelayMs: ms }) => precisionFault('scale-down-delay', ms)),
  rule(['scale-to-zero-pod-retention-period'], ({ scaleToZeroPodRetentionPeriodMs: ms }) =>
    ms < 0
      ? `scale-to-zero-pod-retention-period cannot be negative, was: ${durationText(ms)}`
      : undefined,
  ),
  rule(['stable-window'], ({ stableWindowMs: ms }) =>
    ms < MIN_WINDOW_MS || ms > MAX_WINDOW_MS
      ? `stable-window = ${durationText(ms)}, must be in ` +
        `[${durationText(MIN_WINDOW_MS)}; ${durationText(MAX_WINDOW_MS)}] range`
      : precisionFault('stable-window', ms),
  ),
];

const targets: readonly Rule[] = [
  rule(['target-burst-capacity'], ({ targetBurstCapacity: capacity }) =>
    capacity < 0 && capacity !== -1
      ? 'target-burst-capacity must be either non-negative or -1 (for unlimited), was: ' +
        capacity.toFixed(6)
      : undefined,
  ),
  rule(['container-concurrency-target-percentage'], ({ concurrencyTargetFraction: fraction }) =>
    fraction <= 0 || fraction > 1
      ? `container-concurrency-target-percentage = ${fraction.toFixed(6)} is outside of ` +
        'valid range of (0, 100]'
      : undefined,
  ),
  rule(
    ['container-concurrency-target-default', 'container-concurrency-target-percentage'],
    ({ concurrencyTargetFraction, concurrencyTargetDefault }) => {
      const target = concurrencyTargetFraction * concurrencyTargetDefault;
      if (target >= MIN_TARGET) return undefined;
      return (
        'container-concurrency-target-percentage and container-concurrency-target-default yield ' +
        `target concurrency of ${target}, can't be less than ${MIN_TARGET}`
      );
    },
  ),
  rule(['requests-per-second-target-default'], ({ rpsTargetDefault: target }) =>
    target < MIN_TARGET
      ? `requests-per-second-target-default must be at least ${MIN_TARGET}, was: ${target}`
      : undefined,
  ),
  rule(['activator-capacity'], ({ activatorCapacity: capacity }) =>
    capacity < 1 ? `activator-capacity = ${capacity}, must be at least 1` : undefined,
  ),
  rule(['max-scale-up-rate'], ({ maxScaleUpRate: rate }) => rateFault('max-scale-up-rate', rate)),
  rule(['max-scale-down-rate'], ({ maxScaleDownRate: rate }) =>
    rateFault('max-scale-down-rate', rate),
  ),
  rule(['panic-window-percentage'], ({ panicWindowPercentage: percentage }) => {
    const { min, max } = PANIC_WINDOW_PERCENTAGE;
    if (percentage >= min && percentage <= max) return undefined;
    return `panic-window-percentage = ${percentage}, must be in [${min}, ${max}] interval`;
  }),
];

const scales: readonly Rule[] = [
  rule(['initial-scale'], ({ initialScale: scale, allowZeroInitialScale }) =>
    scale < 0 || (scale === 0 && !allowZeroInitialScale)
      ? `initial-scale = ${scale}, must be at least 0 (or at least 1 when ` +
        'allow-zero-initial-scale is false)'
      : undefined,
  ),
  rule(['min-scale'], ({ minScale: scale }) =>
    scale < 0 ? `min-scale = ${scale}, must be at least 0` : undefined,
  ),
  rule(['max-scale', 'max-scale-limit'], ({ maxScale, maxScaleLimit: limit }) => {
    // Where there is a limit, "no maximum" would be beyond it.
    const least = limit > 0 ? 1 : 0;
    if (maxScale >= least && (limit <= 0 || maxScale <= limit)) return undefined;
    return `max-scale = ${maxScale}, must be in [${least}, max-scale-limit(${limit})] range`;
  }),
  rule(['max-scale-limit'], ({ maxScaleLimit: limit }) =>
    limit < 0 ? `max-scale-limit = ${limit}, must be at least 0` : undefined,
  ),
  rule(['min-scale', 'max-scale'], ({ minScale, maxScale }) =>
    minScale > maxScale && maxScale > 0
      ? `min-scale (${minScale}) must be less than max-scale (${maxScale})`
      : undefined,
  ),
];

const RULES: readonly Rule[] = [...durations, ...targets, ...scales];

const precisionFault = (key: ConfigKey, ms: number): string | undefined =>
  isWholeSeconds(ms)
    ? undefined
    : `${key} = ${durationText(ms)}, must be specified with at most second precision`;

const rateFault = (key: ConfigKey, rate: number): string | undefined =>
  rate > 1 ? undefined : `${key} = ${rate}, must be greater than 1.0`;
