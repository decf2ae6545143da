import type { Clock } from '#kernel/core/clock.ts';
import type { Random } from '#kernel/core/random.ts';
import type { Log } from '#kernel/system/log.ts';
import type { Delivery, JetStreamBroker, Subscription } from '../broker/jetstream-broker.ts';
import { eventFromHttp, hasEvent } from '../contracts/codec.ts';
import type { DeliveryOutcome } from '../delivery/policy.ts';
import { parseRetryAfter, retryDelayMs, settle, type Settlement } from '../delivery/policy.ts';
import type { DeliveryFailure } from './dead-letter.ts';
import { deadLetterHeaders } from './dead-letter.ts';
import type { DeliveryEnd, DeliverySpan, DeliveryTracing } from './delivery-tracing.ts';
import { passesFilter } from './event-filter.ts';
import type { Sender, SendResult } from './event-sender.ts';
import type { TriggerSpec } from './trigger-spec.ts';

/** Counted since the Trigger was applied in this process. */
export interface TriggerStats {
  readonly delivered: number;
  /** Attempts that failed and will be repeated. */
  readonly retried: number;
  readonly deadLettered: number;
  /** Given up where the Trigger has no dead letter sink. */
  readonly dropped: number;
  /** Deliveries of an event that was handed out before, which no retry of ours asked for. */
  readonly duplicates: number;
  readonly inFlight: number;
  /** Not finished: in the stream, waiting here for a free place, or waiting for a retry. */
  readonly pending: number;
}

export interface DispatcherOptions {
  readonly spec: TriggerSpec;
  readonly broker: JetStreamBroker;
  /** The dispatcher destroys both when it stops. */
  readonly subscriber: Sender;
  readonly deadLetterSink: Sender | undefined;
  readonly ackWaitMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Makes the span of each attempt; absent: nothing is traced. */
  readonly tracing?: DeliveryTracing;
}

/** An event that was handed to us and has no ending yet. */
interface Held {
  delivery: Delivery;
  readonly deadlineMs: number;
  cut: ((reason: Error) => void) | undefined;
}

const NO_BODY = new Uint8Array();

/**
 * A retry waits inside the stream but counts as unsettled there, so the stream's bound must leave room
 * beside what is in flight, or a few failing events would hold up all others.
 */
export const maxUnsettled = (maxInFlight: number): number =>
  maxInFlight + Math.max(16, 4 * maxInFlight);

/** Delivers one Trigger's events: bounded, patient with slow subscribers, never losing one. */
export class TriggerDispatcher {
  readonly spec: TriggerSpec;
  readonly #options: DispatcherOptions;
  readonly #subscriber: Sender;
  readonly #deadLetterSink: Sender | undefined;
  readonly #held = new Map<number, Held>();
  /** Handed to us while every place was taken; at most maxUnsettled, the stream's own bound. */
  readonly #waiting: Delivery[] = [];
  /** Attempt of each event whose retry we asked for: the next one is no duplicate. */
  readonly #retrying = new Map<number, number>();
  readonly #stopping = new AbortController();
  #subscription: Subscription | undefined;
  #idle: (() => void) | undefined;
  #inFlight = 0;
  #delivered = 0;
  #retried = 0;
  #deadLettered = 0;
  #dropped = 0;
  #duplicates = 0;

  constructor(options: DispatcherOptions) {
    this.spec = options.spec;
    this.#options = options;
    this.#subscriber = options.subscriber;
    this.#deadLetterSink = options.deadLetterSink;
  }

  async start(): Promise<void> {
    const { broker, ackWaitMs } = this.#options;
    const subscription = {
      trigger: this.spec.name,
      type: this.spec.filter['type'] === '' ? undefined : this.spec.filter['type'],
      maxUnsettled: maxUnsettled(this.spec.maxInFlight),
      ackWaitMs,
    };
    this.#subscription = await broker.subscribe(this.spec.broker, subscription, (delivery) =>
      this.#accept(delivery),
    );
    void this.#extend();
  }

  async stats(): Promise<TriggerStats> {
    const inStream = (await this.#subscription?.pending()) ?? 0;
    return {
      delivered: this.#delivered,
      retried: this.#retried,
      deadLettered: this.#deadLettered,
      dropped: this.#dropped,
      duplicates: this.#duplicates,
      inFlight: this.#inFlight,
      pending: inStream + this.#waiting.length + this.#retrying.size,
    };
  }

  /** Takes no more, lets what is in flight end for `drainMs`, then cuts it off and gives it back. */
  async stop(drainMs: number): Promise<void> {
    this.#stopping.abort();
    await this.#subscription?.stop();
    for (const delivery of this.#waiting.splice(0)) this.#giveBack(delivery);
    if (this.#inFlight > 0) {
      const drained = new Promise<void>((resolve) => (this.#idle = resolve));
      const limit = new AbortController();
      const timedOut = this.#options.clock.sleep(drainMs, limit.signal).catch(() => undefined);
      await Promise.race([drained, timedOut]);
      limit.abort();
      await Promise.all([this.#subscriber.destroy(), this.#deadLetterSink?.destroy()]);
      await drained;
    }
    await Promise.all([this.#subscriber.destroy(), this.#deadLetterSink?.destroy()]);
  }

  /** Acknowledgement deadlines start anew while work goes on: a slow start is no reason to repeat. */
  async #extend(): Promise<void> {
    const { clock, ackWaitMs } = this.#options;
    while (!this.#stopping.signal.aborted) {
      try {
        await clock.sleep(ackWaitMs / 3, this.#stopping.signal);
      } catch {
        // Stopping: deliveries that still run keep the rest of their deadline, which drain fits in.
        return;
      }
      const now = clock.monotonicMs();
      for (const delivery of this.#waiting) delivery.working();
      for (const held of this.#held.values()) {
        held.delivery.working();
        // A sender's time-out may start anew with each byte: this bounds an answer that trickles.
        if (now > held.deadlineMs) held.cut?.(new Error('the delivery took too long'));
      }
    }
  }

  #accept(delivery: Delivery): void {
    const { sequence, attempt } = delivery;
    const held = this.#held.get(sequence);
    if (held !== undefined) {
      // The deadline passed while we worked (a stalled process): go on, acknowledge the newer copy.
      held.delivery = delivery;
      this.#duplicates++;
      return;
    }
    if (this.#stopping.signal.aborted) return this.#giveBack(delivery);
    if (!passesFilter(this.spec.filter, delivery.headers)) return delivery.ack();
    if (attempt > 1 && this.#retrying.get(sequence) !== attempt - 1) this.#duplicates++;
    this.#retrying.delete(sequence);
    if (this.#inFlight < this.spec.maxInFlight) void this.#run(delivery);
    else this.#waiting.push(delivery);
  }

  #giveBack(delivery: Delivery): void {
    delivery.retry(0);
  }

  async #run(delivery: Delivery): Promise<void> {
    this.#inFlight++;
    const { clock } = this.#options;
    const held: Held = {
      delivery,
      deadlineMs: clock.monotonicMs() + 2 * this.spec.delivery.timeoutMs,
      cut: undefined,
    };
    this.#held.set(delivery.sequence, held);
    try {
      await this.#deliver(held);
    } catch (error) {
      // A bug of ours must not lose the event: its deadline passes and the stream hands it out again.
      this.#options.log.error('a delivery failed unexpectedly', {
        trigger: this.spec.name,
        error: String(error),
      });
    } finally {
      this.#held.delete(delivery.sequence);
      this.#inFlight--;
      const next = this.#waiting.shift();
      if (next !== undefined) void this.#run(next);
      else if (this.#inFlight === 0) this.#idle?.();
    }
  }

  async #deliver(held: Held): Promise<void> {
    const { headers, body } = held.delivery;
    const span = this.#beginSpan(held, false);
    const result = await this.#send(this.#subscriber, headers, body, held, span);
    const outcome = await this.#judge(result);
    const { delivery: policy } = this.spec;
    const settlement = settle(outcome, held.delivery.attempt, policy, this.#options.random);
    span?.end(result, this.#endOf(settlement.kind));
    if (settlement.kind === 'ack') {
      this.#delivered++;
      held.delivery.ack();
    } else if (settlement.kind === 'retry') {
      this.#retry(held, settlement.delayMs);
    } else {
      await this.#giveUp(held, failureOf(this.#subscriber.url, result));
    }
  }

  #beginSpan({ delivery }: Held, isDeadLetter: boolean): DeliverySpan | undefined {
    return this.#options.tracing?.begin({ spec: this.spec, delivery, isDeadLetter });
  }

  #endOf(kind: Settlement['kind']): DeliveryEnd {
    if (kind === 'ack' || kind === 'retry') return kind;
    return this.#deadLetterSink === undefined ? 'dropped' : 'deadLetter';
  }

  #send(
    sender: Sender,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    held: Held,
    span: DeliverySpan | undefined,
  ): Promise<SendResult> {
    const { namespace } = this.spec.broker;
    const sent = { ...headers, ...span?.headers, prefer: 'reply', 'kn-namespace': namespace };
    const onStart = (cut: (reason: Error) => void): void => {
      held.cut = cut;
    };
    return sender.send(sent, body, onStart, span?.hop);
  }

  #retry(held: Held, delayMs: number): void {
    if (!this.#stopping.signal.aborted) this.#retried++;
    const bound = maxUnsettled(this.spec.maxInFlight);
    // Events that the stream's maximum age ended never come back: the oldest entry makes room.
    const [oldest] = this.#retrying.keys();
    if (this.#retrying.size >= bound) this.#retrying.delete(oldest as number);
    this.#retrying.set(held.delivery.sequence, held.delivery.attempt);
    held.delivery.retry(delayMs);
  }

  /** A reply that is an event is in the broker before the event it answers is acknowledged. */
  async #judge(result: SendResult): Promise<DeliveryOutcome> {
    if (result.kind === 'failure') return { kind: result.aborted ? 'aborted' : 'unreachable' };
    const { status, headers, body } = result;
    if (status < 200 || status > 299) {
      const header = headers['retry-after'];
      const retryAfterMs = parseRetryAfter(
        typeof header === 'string' ? header : undefined,
        this.#options.clock.nowMs(),
      );
      return { kind: 'answered', status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    }
    if (!hasEvent(headers)) {
      return body.length === 0 ? { kind: 'delivered' } : { kind: 'unusableReply' };
    }
    try {
      await this.#options.broker.publish(this.spec.broker, eventFromHttp(headers, body));
    } catch (error) {
      const detail = String(error);
      this.#options.log.warn('a reply was not taken', { trigger: this.spec.name, detail });
      return { kind: 'unusableReply' };
    }
    return { kind: 'delivered' };
  }

  async #giveUp(held: Held, failure: DeliveryFailure): Promise<void> {
    const { log, random } = this.#options;
    const { delivery } = held;
    const fields = {
      trigger: this.spec.name,
      eventId: delivery.headers['ce-id'],
      attempt: delivery.attempt,
      status: failure.status,
    };
    if (this.#deadLetterSink === undefined) {
      this.#dropped++;
      held.delivery.ack();
      return log.error('an event was given up; the Trigger has no dead letter sink', fields);
    }
    const headers = deadLetterHeaders(delivery.headers, failure);
    const span = this.#beginSpan(held, true);
    const result = await this.#send(this.#deadLetterSink, headers, delivery.body, held, span);
    const isTaken = result.kind === 'answer' && result.status >= 200 && result.status <= 299;
    span?.end(result, isTaken ? 'ack' : 'retry');
    if (isTaken) {
      this.#deadLettered++;
      held.delivery.ack();
      return log.warn('an event went to the dead letter sink', fields);
    }
    // Never lost for that: later the subscriber is asked once more, then the sink, until the stream's
    // maximum age ends it.
    const detail = result.kind === 'answer' ? `answered ${result.status}` : result.detail;
    log.error('the dead letter sink took no event', { ...fields, detail });
    this.#retry(held, retryDelayMs(delivery.attempt, this.spec.delivery, random));
  }
}

const failureOf = (destination: string, result: SendResult): DeliveryFailure =>
  result.kind === 'answer'
    ? { destination, status: result.status, body: result.body }
    : {
        destination,
        body: result.detail === '' ? NO_BODY : Buffer.from(`dispatch error: ${result.detail}`),
      };
