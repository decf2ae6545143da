import { TachographError } from '#kernel/core/errors.ts';
import type { BrokerKey } from '../broker/broker-names.ts';
import { isDnsLabel } from '../broker/broker-names.ts';
import type { DeliveryPolicy } from '../delivery/policy.ts';

/** Where events go: a Service by name (with a path), or a URI. */
export interface Destination {
  readonly ref?: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace: string;
  };
  /** With `ref`: relative to the Service, e.g. `/dead-letter`. Without: absolute. */
  readonly uri?: string;
}

/** A Knative Trigger with its defaults filled in. */
export interface TriggerSpec {
  readonly name: string;
  readonly broker: BrokerKey;
  /** Attributes and the values they must have exactly; '' matches any value. */
  readonly filter: Readonly<Record<string, string>>;
  readonly subscriber: Destination;
  readonly delivery: DeliveryPolicy & {
    readonly timeoutMs: number;
    readonly deadLetterSink?: Destination;
  };
  /** Deliveries under way at once. */
  readonly maxInFlight: number;
}

/** Annotation of the local broker; Knative's counterpart is the channel's maxAckPending. */
export const MAX_IN_FLIGHT_ANNOTATION = 'tachograph.io/max-in-flight';

/** Knative's defaults where a Trigger says nothing (config-br-defaults, and the channel's AckWait). */
export const TRIGGER_DEFAULTS = {
  retry: 10,
  backoffPolicy: 'exponential',
  backoffDelayMs: 200,
  maxBackoffMs: 600_000,
  timeoutMs: 30_000,
  maxInFlight: 8,
} as const;

const MAX_RETRY = 1_000;
const MAX_IN_FLIGHT = 1_024;
const MAX_TIMEOUT_MS = 3_600_000;

/** Reads one object of the YAML by path, and says the path when something is wrong. */
class Reader {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw wrong(path, value, 'give an object');
    }
    this.#value = value as Readonly<Record<string, unknown>>;
    this.#path = path;
  }

  at(field: string): string {
    return this.#path === '' ? field : `${this.#path}.${field}`;
  }

  /** Refuses fields that nobody reads: a misspelt `retries` must not mean "no retry". */
  only(...fields: readonly string[]): void {
    for (const field of Object.keys(this.#value)) {
      if (!fields.includes(field)) {
        throw wrong(this.at(field), this.#value[field], `use only ${fields.join(', ')} here`);
      }
    }
  }

  get(field: string): unknown {
    return this.#value[field];
  }

  has(field: string): boolean {
    return this.#value[field] !== undefined && this.#value[field] !== null;
  }

  object(field: string): Reader {
    return new Reader(this.#value[field] ?? {}, this.at(field));
  }

  text(field: string): string {
    const value = this.#value[field];
    if (typeof value === 'string' && value !== '') return value;
    throw wrong(this.at(field), value, 'give a text');
  }

  label(field: string): string {
    const value = this.#value[field];
    if (typeof value === 'string' && isDnsLabel(value)) return value;
    throw wrong(this.at(field), value, 'give 1 to 63 of a to z, 0 to 9 and "-"');
  }
}

const wrong = (field: string, value: unknown, remedy: string): TachographError =>
  new TachographError('CONFIG_INVALID', {
    name: `Trigger field ${field}`,
    value: typeof value === 'string' ? value : (JSON.stringify(value) ?? 'absent'),
    remedy,
  });

/** Checks a Trigger as it stands in the YAML. Throws CONFIG_INVALID naming field, value and remedy. */
export function parseTrigger(manifest: unknown): TriggerSpec {
  const trigger = new Reader(manifest, '');
  if (trigger.get('kind') !== 'Trigger') {
    throw wrong('kind', trigger.get('kind'), 'give a Trigger of eventing.knative.dev/v1');
  }
  const metadata = trigger.object('metadata');
  const namespace = metadata.has('namespace') ? metadata.label('namespace') : 'default';
  const spec = trigger.object('spec');
  spec.only('broker', 'filter', 'subscriber', 'delivery');
  return {
    name: metadata.label('name'),
    broker: { namespace, name: spec.label('broker') },
    filter: parseFilter(spec),
    subscriber: parseDestination(spec, 'subscriber', namespace),
    delivery: parseDelivery(spec.object('delivery'), namespace),
    maxInFlight: parseMaxInFlight(metadata),
  };
}

function parseFilter(spec: Reader): Record<string, string> {
  const filter = spec.object('filter');
  filter.only('attributes');
  const attributes = filter.object('attributes');
  const exact: Record<string, string> = {};
  for (const [name, value] of Object.entries(filter.get('attributes') ?? {})) {
    if (!/^[a-z0-9]+$/.test(name)) throw wrong(attributes.at(name), value, 'name an attribute');
    if (typeof value !== 'string') throw wrong(attributes.at(name), value, 'give a text');
    exact[name] = value;
  }
  return exact;
}

function parseDestination(parent: Reader, field: string, namespace: string): Destination {
  const destination = parent.object(field);
  destination.only('ref', 'uri');
  const uri = destination.has('uri') ? destination.text('uri') : undefined;
  if (!destination.has('ref')) {
    if (uri === undefined) throw wrong(parent.at(field), 'empty', 'give a ref or a uri');
    if (!/^https?:\/\//.test(uri) || !URL.canParse(uri)) {
      throw wrong(destination.at('uri'), uri, 'give an absolute http or https URL, or add a ref');
    }
    return { uri };
  }
  const ref = destination.object('ref');
  ref.only('apiVersion', 'kind', 'name', 'namespace');
  return {
    ref: {
      apiVersion: ref.text('apiVersion'),
      kind: ref.text('kind'),
      name: ref.label('name'),
      namespace: ref.has('namespace') ? ref.label('namespace') : namespace,
    },
    ...(uri === undefined ? {} : { uri }),
  };
}

function parseDelivery(delivery: Reader, namespace: string): TriggerSpec['delivery'] {
  delivery.only('retry', 'backoffPolicy', 'backoffDelay', 'timeout', 'deadLetterSink');
  const policy = delivery.get('backoffPolicy') ?? TRIGGER_DEFAULTS.backoffPolicy;
  if (policy !== 'exponential' && policy !== 'linear') {
    throw wrong(delivery.at('backoffPolicy'), policy, 'give exponential or linear');
  }
  const retry = delivery.get('retry') ?? TRIGGER_DEFAULTS.retry;
  return {
    retry: integerIn(delivery.at('retry'), retry, 0, MAX_RETRY),
    backoffPolicy: policy,
    backoffDelayMs: duration(
      delivery,
      'backoffDelay',
      TRIGGER_DEFAULTS.backoffDelayMs,
      TRIGGER_DEFAULTS.maxBackoffMs,
    ),
    maxBackoffMs: TRIGGER_DEFAULTS.maxBackoffMs,
    timeoutMs: duration(delivery, 'timeout', TRIGGER_DEFAULTS.timeoutMs, MAX_TIMEOUT_MS),
    ...(delivery.has('deadLetterSink')
      ? { deadLetterSink: parseDestination(delivery, 'deadLetterSink', namespace) }
      : {}),
  };
}

function parseMaxInFlight(metadata: Reader): number {
  const annotations = metadata.object('annotations');
  const value = annotations.get(MAX_IN_FLIGHT_ANNOTATION);
  if (value === undefined) return TRIGGER_DEFAULTS.maxInFlight;
  const field = annotations.at(MAX_IN_FLIGHT_ANNOTATION);
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return integerIn(field, number, 1, MAX_IN_FLIGHT);
}

function integerIn(field: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  throw wrong(field, value, `give an integer from ${min} to ${max}`);
}

function duration(parent: Reader, field: string, defaultMs: number, maxMs: number): number {
  const value = parent.get(field);
  if (value === undefined || value === null) return defaultMs;
  const ms = typeof value === 'string' ? parseDurationMs(value) : undefined;
  if (ms !== undefined && ms > 0 && ms <= maxMs) return ms;
  throw wrong(
    parent.at(field),
    value,
    `give an ISO 8601 duration such as PT0.2S, at most ${maxMs} ms`,
  );
}

const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/;

/**
 * ISO 8601 durations without years, months and weeks, whose length is not fixed or which nobody writes
 * here: `PT0.2S` is 200, `PT1M30S` 90,000, `P1DT2H` 93,600,000. Undefined for anything else.
 */
export function parseDurationMs(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (match === null || text.endsWith('P') || text.endsWith('T')) return undefined;
  const [days, hours, minutes, seconds] = match
    .slice(1)
    .map((part) => (part === undefined ? 0 : Number(part.replace(',', '.'))));
  const total =
    (((days as number) * 24 + (hours as number)) * 60 + (minutes as number)) * 60 +
    (seconds as number);
  return Math.round(total * 1000);
}
