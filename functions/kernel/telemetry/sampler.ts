import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import { TachographError } from '../core/errors.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** What OTEL_TRACES_SAMPLER may say. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/**
 * The sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG ask for, which the SDK's trace package
 * alone does not read. Default: parentbased_always_on. Throws CONFIG_INVALID where the standard would
 * only warn: a study that meant 1 % and got all would be wrong in silence.
 */
export function samplerOf(env: Variables): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const known = SAMPLERS.find((sampler) => sampler === name);
  if (known === undefined) {
    const remedy = `use one of ${SAMPLERS.join(', ')}`;
    throw new TachographError('CONFIG_INVALID', {
      name: 'OTEL_TRACES_SAMPLER',
      value: name,
      remedy,
    });
  }
  const root = rootSampler(known.replace('parentbased_', ''), env);
  return known.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

/** Whether what is not sampled where it comes from stays so. */
export const followsParent = (env: Variables): boolean =>
  (env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on').startsWith('parentbased_');

function rootSampler(name: string, env: Variables): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler();
  if (name === 'always_off') return new AlwaysOffSampler();
  return new TraceIdRatioBasedSampler(ratioOf(env['OTEL_TRACES_SAMPLER_ARG']));
}

function ratioOf(text: string | undefined): number {
  if (text === undefined || text === '') return 1;
  const ratio = Number(text);
  if (/^(\d+(\.\d*)?|\.\d+)(e-?\d+)?$/i.test(text) && ratio >= 0 && ratio <= 1) return ratio;
  throw new TachographError('CONFIG_INVALID', {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    value: text,
    remedy: 'use a number from 0 to 1',
  });
}
