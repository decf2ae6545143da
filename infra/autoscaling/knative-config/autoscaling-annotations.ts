import {
  ANNOTATIONS,
  GROUP,
  HPA_CLASS,
  KNOWN_ANNOTATIONS,
  KPA_CLASS,
  PROGRESS_DEADLINE,
  type AnnotationName,
} from './annotation-keys.ts';
import {
  MAX_WINDOW_MS,
  MIN_TARGET,
  MIN_WINDOW_MS,
  PANIC_WINDOW_PERCENTAGE,
  type AutoscalerConfig,
} from './config-autoscaler.ts';
import { parsed, unknownKeys, type ConfigFault, type Parsed } from './config-fault.ts';
import {
  MAX_INT32,
  durationText,
  isWholeSeconds,
  readDurationMs,
  readFloat,
  readInt32,
} from './go-values.ts';

/** What a revision says of its scaling; null: nothing, so the ConfigMap decides. */
export interface AutoscalingAnnotations {
  /** Its own, else the ConfigMap's: who scales the revision. */
  readonly class: string;
  /** Its own, else the class's default; '' for classes that are none of Knative's. */
  readonly metric: string;
  readonly aggregation: 'linear' | 'weighted-exponential';
  readonly target: number | null;
  /** 1 to 100. */
  readonly targetUtilizationPercentage: number | null;
  readonly targetBurstCapacity: number | null;
  readonly windowMs: number | null;
  readonly panicWindowPercentage: number | null;
  readonly panicThresholdPercentage: number | null;
  readonly minScale: number | null;
  /** 0: no maximum, whatever the ConfigMap says. */
  readonly maxScale: number | null;
  readonly initialScale: number | null;
  readonly activationScale: number | null;
  readonly scaleDownDelayMs: number | null;
  readonly scaleToZeroPodRetentionPeriodMs: number | null;
  /** How long it may take to become ready; of another group (serving.knative.dev). */
  readonly progressDeadlineMs: number | null;
}

const PANIC_THRESHOLD_PERCENTAGE = { min: 110, max: 1000 } as const;

type Texts = Readonly<Record<string, string>>;

/**
 * Reads the annotations of a revision's template. Those of other groups are left alone. Messages are
 * Knative's own, key included; all faults are named at once.
 */
export function parseAutoscalingAnnotations(
  annotations: Texts,
  config: AutoscalerConfig,
): Parsed<AutoscalingAnnotations> {
  const ours = Object.keys(annotations).filter((key) => key.startsWith(`${GROUP}/`));
  const reader = new AnnotationReader(annotations);
  const className = readClass(reader, config);
  const { minScale, maxScale, activationScale } = readScales(reader, config);
  const value: AutoscalingAnnotations = {
    class: className,
    minScale,
    maxScale,
    activationScale,
    ...readPercentages(reader),
    ...readDurations(reader),
    metric: readMetric(reader, className),
    aggregation: readAggregation(reader, className),
    initialScale: readInitialScale(reader, config),
  };
  return parsed([...unknownKeys(ours, KNOWN_ANNOTATIONS), ...reader.faults], () => value);
}

interface Written {
  /** As it is written, with its group. */
  readonly key: string;
  readonly text: string;
}

class AnnotationReader {
  readonly faults: ConfigFault[] = [];
  readonly #annotations: Texts;

  constructor(annotations: Texts) {
    this.#annotations = annotations;
  }

  /** Where both names are written, the first counts (Knative's kmap.KeyPriority). */
  written(name: AnnotationName): Written | undefined {
    const { alias } = ANNOTATIONS[name];
    return (
      this.at(`${GROUP}/${name}`) ?? (alias === null ? undefined : this.at(`${GROUP}/${alias}`))
    );
  }

  at(key: string): Written | undefined {
    const text = Object.hasOwn(this.#annotations, key) ? this.#annotations[key] : undefined;
    return text === undefined ? undefined : { key, text };
  }

  /** One fault, in Knative's form: what is wrong, then where. */
  fault({ key }: Written, message: string, where = key): null {
    this.faults.push({ key, message: `${message}: ${where}` });
    return null;
  }

  invalid(written: Written): null {
    return this.fault(written, `invalid value: ${written.text}`);
  }

  outOfBounds(written: Written, min: number | string, max: number | string): null {
    return this.fault(written, `expected ${min} <= ${written.text} <= ${max}`);
  }
}

function readClass(reader: AnnotationReader, config: AutoscalerConfig): string {
  const written = reader.written('class');
  if (written === undefined) return config.podAutoscalerClass;
  const { text } = written;
  if (text.endsWith('.knative.dev') && text !== KPA_CLASS && text !== HPA_CLASS) {
    reader.invalid(written);
  }
  return text;
}

function readMetric(reader: AnnotationReader, className: string): string {
  const written = reader.written('metric');
  if (written === undefined) {
    return className === KPA_CLASS ? 'concurrency' : className === HPA_CLASS ? 'cpu' : '';
  }
  const { text } = written;
  const isKpaMetric = text === 'concurrency' || text === 'rps';
  if (className === KPA_CLASS ? !isKpaMetric : className === HPA_CLASS && text === '') {
    reader.invalid(written);
  }
  return text;
}

/** Knative checks it only where the class is written beside it; a misspelt one is then linear. */
function readAggregation(
  reader: AnnotationReader,
  className: string,
): AutoscalingAnnotations['aggregation'] {
  const written = reader.written('metric-aggregation-algorithm');
  switch (written?.text) {
    case 'weighted-exponential':
    case 'weightedExponential':
      return 'weighted-exponential';
    case undefined:
    case '':
    case 'linear':
      return 'linear';
    default:
      if (written !== undefined && className === KPA_CLASS) reader.invalid(written);
      return 'linear';
  }
}

function readPercentages(
  reader: AnnotationReader,
): Pick<
  AutoscalingAnnotations,
  | 'target'
  | 'targetUtilizationPercentage'
  | 'targetBurstCapacity'
  | 'panicWindowPercentage'
  | 'panicThresholdPercentage'
> {
  const within = (name: AnnotationName, { min, max }: { min: number; max: number }) =>
    readNumber(reader, name, (value, written) =>
      value < min || value > max ? reader.outOfBounds(written, min, max) : value,
    );
  return {
    panicWindowPercentage: within('panic-window-percentage', PANIC_WINDOW_PERCENTAGE),
    panicThresholdPercentage: within('panic-threshold-percentage', PANIC_THRESHOLD_PERCENTAGE),
    target: readNumber(reader, 'target', (value, written) =>
      value < MIN_TARGET
        ? reader.fault(written, `target ${written.text} should be at least ${MIN_TARGET}`)
        : value,
    ),
    targetUtilizationPercentage: within('target-utilization-percentage', { min: 1, max: 100 }),
    targetBurstCapacity: readNumber(reader, 'target-burst-capacity', (value, written) =>
      value < 0 && value !== -1 ? reader.invalid(written) : value,
    ),
  };
}

function readNumber(
  reader: AnnotationReader,
  name: AnnotationName,
  check: (value: number, written: Written) => number | null,
): number | null {
  const written = reader.written(name);
  if (written === undefined) return null;
  const read = readFloat(written.text);
  return 'value' in read ? check(read.value, written) : reader.invalid(written);
}

function readDurations(
  reader: AnnotationReader,
): Pick<
  AutoscalingAnnotations,
  'windowMs' | 'scaleDownDelayMs' | 'scaleToZeroPodRetentionPeriodMs' | 'progressDeadlineMs'
> {
  const within = (name: AnnotationName, minMs: number, precise: boolean): number | null => {
    const written = reader.written(name);
    if (written === undefined) return null;
    const read = readDurationMs(written.text);
    if (!('value' in read)) return reader.invalid(written);
    const ms = read.value;
    if (ms < minMs || ms > MAX_WINDOW_MS) {
      return reader.outOfBounds(written, durationText(minMs), durationText(MAX_WINDOW_MS));
    }
    if (precise || isWholeSeconds(ms)) return ms;
    return reader.fault(written, 'must be specified with at most second precision');
  };
  return {
    windowMs: within('window', MIN_WINDOW_MS, false),
    scaleToZeroPodRetentionPeriodMs: within('scale-to-zero-pod-retention-period', 0, true),
    scaleDownDelayMs: within('scale-down-delay', 0, false),
    progressDeadlineMs: readProgressDeadline(reader),
  };
}

/** validateProgressDeadlineAnnotation of pkg/apis/serving/v1/revision_validation.go. */
function readProgressDeadline(reader: AnnotationReader): number | null {
  const written = reader.at(PROGRESS_DEADLINE);
  if (written === undefined || written.text === '') return null;
  const read = readDurationMs(written.text);
  if (!('value' in read)) return reader.invalid(written);
  const said = `progress-deadline=${written.text}`;
  if (!isWholeSeconds(read.value)) {
    return reader.fault(written, `${said} is not at second precision`);
  }
  return read.value < 0 ? reader.fault(written, `${said} must be positive`) : read.value;
}

function readScales(
  reader: AnnotationReader,
  { maxScaleLimit }: AutoscalerConfig,
): Pick<AutoscalingAnnotations, 'minScale' | 'maxScale' | 'activationScale'> {
  const minScale = readScale(reader, 'min-scale');
  const maxScale = readScale(reader, 'max-scale');
  const min = minScale ?? 0;
  // As upstream: what could not be read counts as 0 from here on, the ConfigMap's bounds do not count.
  const max = maxScale ?? 0;
  const maxWritten = reader.written('max-scale');
  const minWritten = reader.written('min-scale');
  if (maxWritten !== undefined && minWritten !== undefined && max !== 0 && max < min) {
    const where = `${maxWritten.key}, ${minWritten.key}`;
    reader.fault(maxWritten, `max-scale=${max} is less than min-scale=${min}`, where);
  }
  if (maxWritten !== undefined && maxScaleLimit !== 0) {
    if (max > maxScaleLimit)
      reader.outOfBounds({ ...maxWritten, text: `${max}` }, 1, maxScaleLimit);
    if (max === 0) {
      reader.fault(maxWritten, `max-scale=0 (unlimited), must be less than ${maxScaleLimit}`);
    }
  }
  return { minScale, maxScale, activationScale: readActivationScale(reader, min, max) };
}

function readScale(reader: AnnotationReader, name: AnnotationName): number | null {
  const written = reader.written(name);
  if (written === undefined) return null;
  const read = readInt32(written.text);
  if ('value' in read && read.value >= 0) return read.value;
  const isNumber = /^[+-]?\d+$/.test(written.text);
  return isNumber ? reader.outOfBounds(written, 0, MAX_INT32) : reader.invalid(written);
}

function readActivationScale(reader: AnnotationReader, min: number, max: number): number | null {
  const written = reader.written('activation-scale');
  if (written === undefined) return null;
  const read = readInt32(written.text);
  if (!('value' in read)) return reader.invalid(written);
  const scale = read.value;
  const said = `activation-scale=${scale}`;
  if (min > scale) return reader.fault(written, `min-scale=${min} is greater than ${said}`);
  if (max < scale && max !== 0) {
    return reader.fault(written, `max-scale=${max} is less than ${said}`);
  }
  return scale < 2 ? reader.fault(written, `${said} must be greater than 1`) : scale;
}

function readInitialScale(reader: AnnotationReader, config: AutoscalerConfig): number | null {
  const written = reader.written('initial-scale');
  if (written === undefined) return null;
  const read = readInt32(written.text);
  if (!('value' in read)) return reader.invalid(written);
  // Upstream hangs the reason on the key.
  const refuse = (why: string): null =>
    reader.fault(written, `invalid value: ${written.text}`, `${written.key}${why}`);
  if (read.value < 0) return refuse(' must be greater than 0');
  if (read.value === 0 && !config.allowZeroInitialScale) return refuse('=0 not allowed by cluster');
  return read.value;
}
