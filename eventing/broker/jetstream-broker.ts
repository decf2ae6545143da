import type {
  ConsumerMessages,
  JetStreamClient,
  JetStreamManager,
  JsMsg,
} from '@nats-io/jetstream';
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  jetstream,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { connect, headers as natsHeaders, nanos } from '@nats-io/transport-node';
import { TachographError } from '#kernel/core/errors.ts';
import type { Log } from '#kernel/system/log.ts';
import type { TraceFields } from '#kernel/telemetry/propagation.ts';
import type { CloudEvent } from '../contracts/cloud-event.ts';
import { eventToBinary, MAX_EVENT_BYTES } from '../contracts/codec.ts';
import type { BrokerKey } from './broker-names.ts';
import { consumerName, streamName, subjectPrefix, typeSubject } from './broker-names.ts';

/** Room for the attributes beside the data of the largest event. */
const MAX_MESSAGE_BYTES = MAX_EVENT_BYTES + 64 * 1024;
const PUBLISH_TIMEOUT_MS = 5_000;
const RECONNECT_WAIT_MS = 200;
const NANOS_PER_MS = 1_000_000;

/** What a Broker's stream keeps. */
export interface BrokerLimits {
  /** An event that no Trigger has finished by then is gone: the last bound of every retry. */
  readonly maxAgeMs: number;
  /** A full stream refuses new events (503 at the ingress); it never drops an acknowledged one. */
  readonly maxBytes: number;
  /** An id seen again within this time is the same event. */
  readonly duplicateWindowMs: number;
}

export const DEFAULT_BROKER_LIMITS: BrokerLimits = {
  maxAgeMs: 24 * 3_600_000,
  maxBytes: 1024 ** 3,
  duplicateWindowMs: 120_000,
};

/** One event handed to one Trigger, for the attempt-th time. Exactly one of the endings is called. */
export interface Delivery {
  /** Place in the stream: the same for every attempt. */
  readonly sequence: number;
  /** Counts from 1; redeliveries after a lost acknowledgement or a crash count too. */
  readonly attempt: number;
  /** Binary-mode headers and body, as they go on the wire: nothing was decoded. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the message beside the event's: its place in the trace, for who reads no CloudEvents. */
  readonly trace: Readonly<Record<string, string>>;
  /** When the stream had it, by the server's clock: epoch ms with a fraction. */
  readonly storedMs: number;
  readonly body: Uint8Array;
  ack(): void;
  retry(delayMs: number): void;
  /** More time: the acknowledgement's deadline starts anew. */
  working(): void;
}

export interface SubscriptionOptions {
  readonly trigger: string;
  /** The type a Trigger filters by exactly, or undefined for all. */
  readonly type: string | undefined;
  /** Deliveries without an ending, waiting retries among them. */
  readonly maxUnsettled: number;
  readonly ackWaitMs: number;
}

export interface Subscription {
  /** Events in the stream that this Trigger has not been handed yet. */
  pending(): Promise<number>;
  /** No further delivery; the position is kept. */
  stop(): Promise<void>;
}

/** Brokers and Triggers on JetStream. The only place that knows NATS. */
export class JetStreamBroker {
  readonly #connection: NatsConnection;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #log: Log;
  /** How to give up each publish under way: its acknowledgement died with the connection. */
  readonly #publishing = new Set<(error: TachographError) => void>();
  #connected = true;

  private constructor(
    connection: NatsConnection,
    client: JetStreamClient,
    manager: JetStreamManager,
    log: Log,
  ) {
    this.#connection = connection;
    this.#client = client;
    this.#manager = manager;
    this.#log = log;
    void this.#follow();
  }

  /** Throws BROKER_UNAVAILABLE when there is no server with JetStream at the URL. */
  static async connect(natsUrl: string, log: Log): Promise<JetStreamBroker> {
    try {
      const connection = await connect({
        servers: natsUrl,
        name: 'tachograph-broker',
        maxReconnectAttempts: -1,
        reconnectTimeWait: RECONNECT_WAIT_MS,
        // Two stack traces a request are 46 % of a publisher's CPU.
        noAsyncTraces: true,
      });
      const manager = await jetstreamManager(connection);
      return new JetStreamBroker(connection, jetstream(connection), manager, log);
    } catch (error) {
      throw unavailable(error);
    }
  }

  async #follow(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        for (const giveUp of this.#publishing) giveUp(disconnected());
      }
      if (status.type === 'reconnect') this.#connected = true;
      if (status.type === 'disconnect' || status.type === 'reconnect') {
        this.#log.warn(`nats: ${status.type}`);
      }
    }
  }

  /**
   * Creates the Broker's stream, or brings it to these limits. Interest retention: an event stays
   * until every Trigger that selects it has finished it, and no longer.
   */
  async applyBroker(broker: BrokerKey, limits: BrokerLimits): Promise<void> {
    const config = {
      subjects: [`${subjectPrefix(broker)}.>`],
      max_age: nanos(limits.maxAgeMs),
      max_bytes: limits.maxBytes,
      max_msg_size: MAX_MESSAGE_BYTES,
      discard: DiscardPolicy.New,
      duplicate_window: nanos(limits.duplicateWindowMs),
    };
    const name = streamName(broker);
    const { streams } = this.#manager;
    try {
      if (await exists(streams.info(name), JetStreamApiCodes.StreamNotFound)) {
        await streams.update(name, config);
      } else {
        const fixed = { name, storage: StorageType.File, retention: RetentionPolicy.Interest };
        await streams.add({ ...config, ...fixed });
      }
    } catch (error) {
      throw unavailable(error);
    }
  }

  /**
   * Resolves when the stream has the event; `duplicate` when it had one with this id. Throws
   * BROKER_UNAVAILABLE when it has not, or may not have, taken it: publish it again. At most the ingress's
   * maxPublishing are under way. `trace` goes along as headers of the message.
   */
  async publish(
    broker: BrokerKey,
    event: CloudEvent,
    trace?: TraceFields,
  ): Promise<{ readonly duplicate: boolean }> {
    if (!this.#connected) throw disconnected();
    const binary = eventToBinary(event);
    const headers = natsHeaders();
    for (const name in binary.headers) headers.set(name, binary.headers[name] as string);
    if (trace !== undefined) headers.set('traceparent', trace.traceparent);
    if (trace?.tracestate !== undefined) headers.set('tracestate', trace.tracestate);
    const options = { msgID: event.id, headers, timeout: PUBLISH_TIMEOUT_MS };
    const { promise, resolve, reject } = Promise.withResolvers<{ readonly duplicate: boolean }>();
    this.#publishing.add(reject);
    this.#client
      .publish(typeSubject(broker, event.type), binary.body, options)
      .then(resolve, (error: unknown) => reject(unavailable(error)));
    try {
      return await promise;
    } finally {
      this.#publishing.delete(reject);
    }
  }

  /**
   * Creates or updates the Trigger's durable consumer and hands over what it selects. A new Trigger
   * gets what is published from now on; one that is known goes on where it was.
   */
  async subscribe(
    broker: BrokerKey,
    options: SubscriptionOptions,
    handle: (delivery: Delivery) => void,
  ): Promise<Subscription> {
    const stream = streamName(broker);
    const name = consumerName(options.trigger);
    const config = {
      ack_wait: nanos(options.ackWaitMs),
      max_ack_pending: options.maxUnsettled,
      filter_subject:
        options.type === undefined
          ? `${subjectPrefix(broker)}.>`
          : typeSubject(broker, options.type),
    };
    const { consumers } = this.#manager;
    if (await exists(consumers.info(stream, name), JetStreamApiCodes.ConsumerNotFound)) {
      await consumers.update(stream, name, config);
    } else {
      await consumers.add(stream, {
        ...config,
        durable_name: name,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.New,
        // The delivery policy counts attempts; the server would drop the event without a dead letter.
        max_deliver: -1,
      });
    }
    const consumer = await this.#client.consumers.get(stream, name);
    const messages = await consumer.consume({
      max_messages: options.maxUnsettled,
      callback: (message) => handle(deliveryOf(message)),
    });
    void this.#watch(options.trigger, messages);
    return {
      pending: async () => (await consumers.info(stream, name)).num_pending,
      stop: async () => {
        await messages.close();
      },
    };
  }

  async #watch(trigger: string, messages: ConsumerMessages): Promise<void> {
    for await (const status of messages.status()) {
      if (status.type === 'consumer_deleted' || status.type === 'consumer_not_found') {
        this.#log.error('the consumer of a Trigger has gone', { trigger, status: status.type });
      }
    }
  }

  /** Forgets the Trigger and its position: what it has not finished is no longer kept for it. */
  async removeTrigger(broker: BrokerKey, trigger: string): Promise<void> {
    try {
      await this.#manager.consumers.delete(streamName(broker), consumerName(trigger));
    } catch (error) {
      if (!isApiError(error, JetStreamApiCodes.ConsumerNotFound)) throw unavailable(error);
    }
  }

  /** Waits until acknowledgements are on the wire (not when the server has gone), then closes. */
  async close(): Promise<void> {
    if (this.#connected && !this.#connection.isClosed()) await this.#connection.flush();
    await this.#connection.close();
  }
}

function deliveryOf(message: JsMsg): Delivery {
  const headers: Record<string, string> = {};
  const trace: Record<string, string> = {};
  // Iterated once: every get() would build and filter the whole list of names again.
  for (const [name, values] of message.headers ?? []) {
    if (name.startsWith('ce-') || name === 'content-type') headers[name] = values[0] as string;
    if (name === 'traceparent' || name === 'tracestate') trace[name] = values[0] as string;
  }
  const { streamSequence, deliveryCount, timestampNanos } = message.info;
  return {
    sequence: streamSequence,
    attempt: deliveryCount,
    headers,
    trace,
    storedMs: timestampNanos / NANOS_PER_MS,
    body: message.data,
    ack: () => message.ack(),
    retry: (delayMs) => message.nak(delayMs),
    working: () => message.working(),
  };
}

const disconnected = (): TachographError =>
  new TachographError('BROKER_UNAVAILABLE', { detail: 'there is no connection to NATS' });

const isApiError = (error: unknown, code: number): boolean =>
  error instanceof JetStreamApiError && error.code === code;

/** Whether a look-up finds its object; passes on any failure but "not found". */
async function exists(lookup: Promise<unknown>, notFound: number): Promise<boolean> {
  try {
    await lookup;
    return true;
  } catch (error) {
    if (isApiError(error, notFound)) return false;
    throw error;
  }
}

function unavailable(error: unknown): TachographError {
  const detail = error instanceof Error ? error.message : String(error);
  return new TachographError('BROKER_UNAVAILABLE', { detail }, { cause: error });
}
