import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Random } from '#kernel/core/random.ts';
import type { Log } from '#kernel/system/log.ts';
import type { BrokerKey } from '../broker/broker-names.ts';
import { brokerPath } from '../broker/broker-names.ts';
import type { BrokerLimits } from '../broker/jetstream-broker.ts';
import { DEFAULT_BROKER_LIMITS, JetStreamBroker } from '../broker/jetstream-broker.ts';
import { MAX_EVENT_BYTES } from '../contracts/codec.ts';
import type { DeliveryTracing } from './delivery-tracing.ts';
import type { TriggerStats } from './dispatcher.ts';
import { TriggerDispatcher } from './dispatcher.ts';
import type { Sender, SenderOptions } from './event-sender.ts';
import { EventSender } from './event-sender.ts';
import type { IngressStats } from './ingress.ts';
import { startIngress } from './ingress.ts';
import type { Destination, TriggerSpec } from './trigger-spec.ts';

export interface EventingOptions {
  readonly natsUrl: string;
  readonly brokers: readonly BrokerKey[];
  readonly triggers: readonly TriggerSpec[];
  /** The URL of a destination: of a Service's gateway, or the URI itself. Throws for one unknown. */
  readonly resolveUri: (destination: Destination) => string;
  /**
   * Another way to a destination than by HTTP to its URL, as inside one process; undefined: none. It
   * must answer as the URL would.
   */
  readonly openSender?: (destination: Destination, options: SenderOptions) => Sender | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Of the ingress; 0 or absent: any free port. */
  readonly port?: number;
  readonly limits?: Partial<BrokerLimits>;
  /** How long the stream waits for an acknowledgement, or for word that work goes on. */
  readonly ackWaitMs?: number;
  readonly maxPublishing?: number;
  /** Makes spans of deliveries; absent: nothing is traced. */
  readonly tracing?: DeliveryTracing;
  /** How long a stop waits for deliveries under way before it gives them back. */
  readonly drainMs?: number;
}

export interface EventingStats {
  readonly ingress: IngressStats;
  readonly triggers: Readonly<Record<string, TriggerStats>>;
}

/** Brokers and Triggers of one machine: an ingress, a dispatcher per Trigger, JetStream between. */
export interface Eventing {
  /** `http://127.0.0.1:PORT`; a Broker is at `/<namespace>/<broker>` below it. */
  readonly ingressUrl: string;
  /** Adds a Trigger, or replaces the one of that name, which keeps its position in the stream. */
  applyTrigger(spec: TriggerSpec): Promise<void>;
  /** Stops it and forgets its position. Does nothing for a name that is not there. */
  removeTrigger(name: string): Promise<void>;
  stats(): Promise<EventingStats>;
  /** Drains: the ingress answers what it has begun, deliveries end or are given back. */
  stop(): Promise<void>;
}

const DEFAULT_ACK_WAIT_MS = 30_000;
const DEFAULT_MAX_PUBLISHING = 256;
const DEFAULT_DRAIN_MS = 10_000;

/** Triggers are in place before the ingress opens: no event is published before one that wants it. */
export async function startEventing(options: EventingOptions): Promise<Eventing> {
  const broker = await JetStreamBroker.connect(options.natsUrl, options.log);
  const triggers = new Triggers(broker, options);
  try {
    for (const key of options.brokers) {
      await broker.applyBroker(key, { ...DEFAULT_BROKER_LIMITS, ...options.limits });
    }
    for (const spec of options.triggers) await triggers.apply(spec);
    const ingress = await startIngress({
      brokers: options.brokers,
      publisher: broker,
      log: options.log,
      port: options.port ?? 0,
      maxPublishing: options.maxPublishing ?? DEFAULT_MAX_PUBLISHING,
    });
    return {
      ingressUrl: ingress.url,
      applyTrigger: (spec) => triggers.apply(spec),
      removeTrigger: (name) => triggers.remove(name),
      stats: async () => ({ ingress: ingress.stats(), triggers: await triggers.stats() }),
      stop: async () => {
        // Deliveries first: a stage that emits while it finishes still needs the ingress.
        await triggers.stop();
        await ingress.stop();
        await broker.close();
      },
    };
  } catch (error) {
    await triggers.stop();
    await broker.close();
    throw error;
  }
}

class Triggers {
  readonly #broker: JetStreamBroker;
  readonly #options: EventingOptions;
  readonly #dispatchers = new Map<string, TriggerDispatcher>();

  constructor(broker: JetStreamBroker, options: EventingOptions) {
    this.#broker = broker;
    this.#options = options;
  }

  async apply(spec: TriggerSpec): Promise<void> {
    const { brokers, clock, random, log, ackWaitMs, tracing } = this.#options;
    const path = brokerPath(spec.broker);
    if (!brokers.some((key) => brokerPath(key) === path)) {
      throw new TachographError('BROKER_UNKNOWN', { path });
    }
    const { deadLetterSink } = spec.delivery;
    const open = (destination: Destination): Sender => this.#open(destination, spec);
    const dispatcher = new TriggerDispatcher({
      spec,
      broker: this.#broker,
      subscriber: open(spec.subscriber),
      deadLetterSink: deadLetterSink === undefined ? undefined : open(deadLetterSink),
      ackWaitMs: ackWaitMs ?? DEFAULT_ACK_WAIT_MS,
      clock,
      random,
      log,
      ...(tracing === undefined ? {} : { tracing }),
    });
    await this.#stop(spec.name);
    await dispatcher.start();
    this.#dispatchers.set(spec.name, dispatcher);
  }

  #open(destination: Destination, spec: TriggerSpec): Sender {
    const { resolveUri, openSender, clock } = this.#options;
    const options = {
      connections: spec.maxInFlight,
      timeoutMs: spec.delivery.timeoutMs,
      maxAnswerBytes: MAX_EVENT_BYTES,
    };
    const own = openSender?.(destination, options);
    return own ?? new EventSender(resolveUri(destination), options, clock);
  }

  async remove(name: string): Promise<void> {
    const dispatcher = this.#dispatchers.get(name);
    if (dispatcher === undefined) return;
    await this.#stop(name);
    await this.#broker.removeTrigger(dispatcher.spec.broker, name);
  }

  async #stop(name: string): Promise<void> {
    const dispatcher = this.#dispatchers.get(name);
    this.#dispatchers.delete(name);
    await dispatcher?.stop(this.#options.drainMs ?? DEFAULT_DRAIN_MS);
  }

  async stats(): Promise<Record<string, TriggerStats>> {
    const rows = [...this.#dispatchers].map(
      async ([name, dispatcher]) => [name, await dispatcher.stats()] as const,
    );
    return Object.fromEntries(await Promise.all(rows));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#dispatchers.keys()].map((name) => this.#stop(name)));
  }
}
