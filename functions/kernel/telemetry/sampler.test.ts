import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { randomStream } from '../core/random.ts';
import { contextOf } from './places.ts';
import { samplerOf } from './sampler.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const sampled = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
const unsampled = { traceparent: `00-${TRACE}-b7ad6b7169203331-00` };

const takes = (env: Record<string, string>, parent?: { traceparent: string }): boolean =>
  samplerOf(env).shouldSample(
    parent === undefined ? ROOT_CONTEXT : contextOf(parent),
    TRACE,
    's',
    SpanKind.SERVER,
    {},
    [],
  ).decision === SamplingDecision.RECORD_AND_SAMPLED;

test.each([
  [{}, true, true, false],
  [{ OTEL_TRACES_SAMPLER: '' }, true, true, false],
  [{ OTEL_TRACES_SAMPLER: 'always_on' }, true, true, true],
  [{ OTEL_TRACES_SAMPLER: 'always_off' }, false, false, false],
  [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, false, true, false],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, false, false, false],
  [
    { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    false,
    true,
    false,
  ],
  [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio' }, true, true, false],
])('%j samples: root %s, sampled parent %s, other parent %s', (env, root, parent, other) => {
  expect([takes(env), takes(env, sampled), takes(env, unsampled)]).toEqual([root, parent, other]);
});

test('a ratio takes about that share of trace ids', () => {
  const sampler = samplerOf({
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  });
  let taken = 0;
  const random = randomStream(1, 'trace ids');
  const word = () =>
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0');
  for (let n = 0; n < 4_096; n++) {
    const id = word() + word() + word() + word();
    const { decision } = sampler.shouldSample(ROOT_CONTEXT, id, 's', SpanKind.SERVER, {}, []);
    if (decision === SamplingDecision.RECORD_AND_SAMPLED) taken += 1;
  }
  expect(taken / 4_096).toBeGreaterThan(0.15);
  expect(taken / 4_096).toBeLessThan(0.35);
});

test.each([
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER'],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'ARG'],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1%' }, 'ARG'],
])('%j is refused', (env, named) => {
  expect(() => samplerOf(env)).toThrow(named);
});
