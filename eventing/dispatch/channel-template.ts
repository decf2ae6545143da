import { TachographError } from '#kernel/core/errors.ts';
import { parse } from 'yaml';
import type { BrokerLimits } from '../broker/jetstream-broker.ts';

/** What the local broker takes of a NatsJetStreamChannel template. */
export interface ChannelSettings {
  readonly limits: Partial<BrokerLimits>;
  readonly ackWaitMs?: number;
}

const wrong = (field: string, value: unknown, remedy: string): TachographError =>
  new TachographError('CONFIG_INVALID', {
    name: `channelTemplateSpec field ${field}`,
    value: String(value),
    remedy,
  });

/**
 * Reads the text of a Broker's ConfigMap (`data.channelTemplateSpec`): maxAge, maxBytes, duplicateWindow
 * and ackWait; absent ones stay absent. retention, discard and maxAckPending are decided here (see the
 * table in eventing/README.md). Throws CONFIG_INVALID.
 */
export function parseChannelTemplate(text: string): ChannelSettings {
  const template = parse(text) as {
    kind?: unknown;
    spec?: {
      stream?: { config?: Record<string, unknown> };
      consumerConfigTemplate?: Record<string, unknown>;
    };
  } | null;
  if (template?.kind !== 'NatsJetStreamChannel') {
    throw wrong('kind', template?.kind, 'give a NatsJetStreamChannel');
  }
  const config = template.spec?.stream?.config ?? {};
  const { maxBytes } = config;
  if (maxBytes !== undefined && !(Number.isSafeInteger(maxBytes) && (maxBytes as number) > 0)) {
    throw wrong('spec.stream.config.maxBytes', maxBytes, 'give a positive integer');
  }
  const maxAgeMs = duration(config, 'maxAge');
  const duplicateWindowMs = duration(config, 'duplicateWindow');
  const ackWaitMs = duration(template.spec?.consumerConfigTemplate ?? {}, 'ackWait');
  return {
    limits: {
      ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
      ...(maxBytes === undefined ? {} : { maxBytes: maxBytes as number }),
      ...(duplicateWindowMs === undefined ? {} : { duplicateWindowMs }),
    },
    ...(ackWaitMs === undefined ? {} : { ackWaitMs }),
  };
}

function duration(object: Readonly<Record<string, unknown>>, field: string): number | undefined {
  const value = object[field];
  if (value === undefined) return undefined;
  const ms = typeof value === 'string' ? parseGoDurationMs(value) : undefined;
  if (ms === undefined || ms <= 0)
    throw wrong(field, value, 'give a duration such as 24h or 2m30s');
  return ms;
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Go's notation, as Kubernetes writes durations: `24h`, `1h30m`, `2.5s`, `300ms`. */
export function parseGoDurationMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    ms += Number(amount) * (UNITS_MS[unit as string] as number);
  }
  return Math.round(ms);
}
