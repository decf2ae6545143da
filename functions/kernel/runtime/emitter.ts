import {
  eventSource,
  eventType,
  type EventName,
  type StageName,
} from '#eventing/contracts/catalog.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { eventToBinary } from '#eventing/contracts/codec.ts';
import type { Clock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import { SinkClient } from './sink-client.ts';
import { hopHeaders, type TraceFields } from '../telemetry/propagation.ts';
import type { StageMetrics } from '../telemetry/metrics/stage-metrics.ts';
import type { RequestSpan } from '../telemetry/stage-telemetry.ts';
import type { Emission } from './stage.ts';

/** Carried from the causing event to what it causes: intended send time and trace context. */
const CARRIED = ['tachointended', 'traceparent', 'tracestate', 'tachotrace'] as const;

/**
 * The event that announces a fact. Its id is derived from the fact, so that a repeat is recognised
 * as one: `data-provider/veh-1/s1/00000007/0001`.
 *
 * It lies at the given place of the trace; where nothing is traced here, at its cause's. The origin's
 * place goes along under a name of our own, since some brokers lose the other.
 */
export function emissionEvent<N extends EventName>(
  stage: StageName,
  emission: Emission<N>,
  cause: CloudEvent | undefined,
  nowMs: number,
  place?: TraceFields,
): CloudEvent {
  const extensions: Record<string, string> = { partitionkey: emission.subject };
  for (const name of CARRIED) {
    const value = cause?.extensions[name];
    if (value !== undefined && value !== '') extensions[name] = value;
  }
  if (place !== undefined) {
    const { traceparent, tracestate } = place;
    extensions['traceparent'] = traceparent;
    if (tracestate === undefined) delete extensions['tracestate'];
    else extensions['tracestate'] = tracestate;
  }
  const origin = extensions['tachotrace'] ?? extensions['traceparent'];
  if (origin !== undefined) extensions['tachotrace'] = origin;
  const suffix = emission.cause === undefined ? '' : `/${emission.cause}`;
  return {
    id: `${stage}/${emission.factId}${suffix}`,
    source: eventSource(stage),
    type: eventType(emission.name),
    subject: emission.subject,
    time: new Date(nowMs).toISOString(),
    datacontenttype: 'application/json',
    extensions,
    data: Buffer.from(JSON.stringify(emission.data)),
  };
}

export interface Emitter {
  emit<N extends EventName>(emission: Emission<N>, cause: CloudEvent | undefined): Promise<void>;
  close(): Promise<void>;
}

/**
 * Emits by POST to the sink; resolves after its 2xx, rejects with EMIT_FAILED on anything else. It is the
 * phase `emit` of the span at work until the request has a connection, `publish` from there on.
 */
export function sinkEmitter(
  stage: StageName,
  sink: string | undefined,
  clock: Clock,
  currentSpan: () => RequestSpan | undefined = () => undefined,
  metrics?: StageMetrics,
): Emitter {
  const client = sink === undefined ? undefined : new SinkClient(new URL(sink));
  return {
    async emit(emission, cause) {
      const span = currentSpan();
      const phases = emissionPhases(span);
      const fromMs = clock.monotonicMs();
      let isTaken = false;
      try {
        const event = emissionEvent(stage, emission, cause, clock.nowMs(), span?.place);
        await post(client, event, phases.sent);
        isTaken = true;
      } finally {
        phases.end();
        metrics?.emitted(clock.monotonicMs() - fromMs, !isTaken);
      }
    },
    close: async () => {
      await client?.close();
    },
  };
}

interface EmissionPhases {
  /** The request goes out: once, however often it is tried. */
  readonly sent: () => void;
  readonly end: () => void;
}

const UNTRACED: EmissionPhases = { sent: () => {}, end: () => {} };

function emissionPhases(span: RequestSpan | undefined): EmissionPhases {
  if (span === undefined) return UNTRACED;
  let leave = span.enter('emit');
  let isSent = false;
  return {
    sent: () => {
      if (isSent) return;
      isSent = true;
      const leaveEmit = leave;
      leave = span.enter('publish');
      leaveEmit();
    },
    end: () => leave(),
  };
}

async function post(
  client: SinkClient | undefined,
  event: CloudEvent,
  onSent: () => void,
): Promise<void> {
  if (client === undefined) {
    throw new TachographError('EMIT_FAILED', { type: event.type, detail: 'K_SINK is not set' });
  }
  const { headers, body } = eventToBinary(event);
  let status: number;
  try {
    status = await client.post({ ...headers, ...hopHeaders(event.extensions) }, body, onSent);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new TachographError('EMIT_FAILED', { type: event.type, detail }, { cause: error });
  }
  if (status < 200 || status > 299) {
    const detail = `the sink answered ${status}`;
    throw new TachographError('EMIT_FAILED', { type: event.type, detail });
  }
}
