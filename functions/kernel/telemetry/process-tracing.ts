import { SpanKind, SpanStatusCode, type Span, type Tracer } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import type { Clock } from '../core/clock.ts';
import type { Phase, PhaseMark } from '../core/phases.ts';
import { ATTRIBUTE } from './names.ts';
import { phaseAttributes } from './phase-attributes.ts';
import { contextOf, isSampled, placeOf, spanContextOf } from './places.ts';
import { processResource, type ProcessIdentity } from './process-resource.ts';
import type { TraceFields } from './propagation.ts';
import { samplerOf } from './sampler.ts';
import { SpanTargets, type TargetOptions } from './span-targets.ts';
import type { AttributeValue } from './stage-telemetry.ts';

export interface ProcessTracingOptions extends ProcessIdentity, Omit<TargetOptions, 'instance'> {
  /** For the sampler and the resource's standard variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Epoch ms with a fraction. */
  readonly nowMs: () => number;
}

export type ProcessSpanKind = 'client' | 'server' | 'producer' | 'consumer' | 'internal';

export interface ProcessSpanStart {
  readonly name: string;
  readonly kind: ProcessSpanKind;
  /** Epoch ms with a fraction. */
  readonly startMs: number;
  readonly parent: TraceFields | undefined;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

/** A span of a process that is no stage. */
export interface ProcessSpan {
  readonly place: TraceFields;
  readonly sampled: boolean;
  /** A stretch of a phase; epoch ms. What has no length leaves no mark. */
  mark(phase: Phase, fromMs: number, untilMs: number): void;
  set(name: string, value: AttributeValue): void;
  link(place: TraceFields, attributes: Readonly<Record<string, AttributeValue>>): void;
  fail(code: string, message: string): void;
  end(endMs: number): void;
}

/** Tracing of a process that is no stage: the local cluster, the load generator. */
export interface ProcessTracing {
  nowMs(): number;
  startSpan(start: ProcessSpanStart): ProcessSpan;
  readonly dropped: number;
  /** Sends what is waiting, for at most so long. */
  stop(limitMs: number): Promise<void>;
}

const KINDS = {
  client: SpanKind.CLIENT,
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Throws CONFIG_INVALID for a sampler that is none. */
export function startProcessTracing(options: ProcessTracingOptions): ProcessTracing {
  const { nowMs, clock, software } = options;
  const targets = new SpanTargets(options);
  const provider = new TracerProvider({
    resource: processResource(options),
    sampler: samplerOf(options.env),
    spanProcessors: [...targets.processors],
  });
  const [name = '', version = ''] = software.split('/');
  const tracer = provider.getTracer(name, version);
  return {
    nowMs,
    startSpan: (start) => startProcessSpan(tracer, start),
    get dropped() {
      return targets.dropped;
    },
    stop: (limitMs) => targets.stop(limitMs, clock),
  };
}

/**
 * The same on OpenTelemetry's own set-up for Node, where its cost does not matter. One at a time in a
 * process. Throws CONFIG_INVALID for a sampler that is none.
 */
export async function startStandardTracing(
  options: ProcessTracingOptions,
): Promise<ProcessTracing> {
  const { nowMs, clock, software } = options;
  const targets = new SpanTargets(options);
  const { startStandardSetup } = await import('./standard-setup.ts');
  const setup = await startStandardSetup({
    software,
    resource: processResource(options),
    sampler: samplerOf(options.env),
    spanProcessors: [...targets.processors],
  });
  return {
    nowMs,
    startSpan: (start) => startProcessSpan(setup.tracer, start),
    get dropped() {
      return targets.dropped;
    },
    stop: async (limitMs) => {
      await targets.stop(limitMs, clock);
      // The targets have been stopped, or given up: it has nothing left that somebody should wait for.
      void setup.shutdown().catch(() => undefined);
    },
  };
}

function startProcessSpan(tracer: Tracer, start: ProcessSpanStart): ProcessSpan {
  const { name, kind, startMs, parent, attributes } = start;
  const span = tracer.startSpan(
    name,
    { kind: KINDS[kind], startTime: startMs, attributes },
    contextOf(parent),
  );
  return new MarkedSpan(span, startMs);
}

class MarkedSpan implements ProcessSpan {
  readonly #span: Span;
  readonly #startMs: number;
  readonly #marks: PhaseMark[] = [];

  constructor(span: Span, startMs: number) {
    this.#span = span;
    this.#startMs = startMs;
  }

  get place(): TraceFields {
    return placeOf(this.#span.spanContext());
  }

  get sampled(): boolean {
    return isSampled(this.#span.spanContext());
  }

  mark(phase: Phase, fromMs: number, untilMs: number): void {
    const fromUs = Math.round((fromMs - this.#startMs) * 1_000);
    const lengthUs = Math.round((untilMs - this.#startMs) * 1_000) - fromUs;
    if (lengthUs > 0) this.#marks.push({ phase, fromUs, lengthUs });
  }

  set(name: string, value: AttributeValue): void {
    this.#span.setAttribute(name, value);
  }

  link(place: TraceFields, attributes: Readonly<Record<string, AttributeValue>>): void {
    const context = spanContextOf(place);
    if (context !== undefined) this.#span.addLink({ context, attributes });
  }

  fail(code: string, message: string): void {
    this.#span.setAttribute(ATTRIBUTE.errorType, code);
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
  }

  end(endMs: number): void {
    if (this.#marks.length > 0) this.#span.setAttributes(phaseAttributes(this.#marks));
    this.#span.end(endMs);
  }
}
