import type { DataPath, Stat } from '#infra/autoscaling/policy.ts';
import { ConcurrencyMeter, type ConcurrencyReport } from '#infra/routing/concurrency-meter.ts';
import { roundRobin, uniformRandom, type LbPolicy } from '#infra/routing/lb-policy.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Random } from '#kernel/core/random.ts';
import type { Log } from '#kernel/system/log.ts';
import { Activator } from './activator.ts';
import { collectAnswer } from './collect-answer.ts';
import { Deadlines } from './deadlines.ts';
import { Exchange } from './exchange.ts';
import type { AnswerSink, Cancel, PathAnswer, PathRequest } from './path-request.ts';
import { QueueProxy } from './queue-proxy.ts';
import type { ReplicaAddress } from './replica-address.ts';
import { sendExchange, type SendOutcome } from './send-exchange.ts';

export interface ServicePathOptions {
  readonly name: string;
  readonly kind: 'Service' | 'Deployment';
  /** Requests at work in one replica at once; 0: no limit. Without meaning for a Deployment. */
  readonly containerConcurrency: number;
  /** Of a whole request, waiting included. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Monotonic time of the cluster's start, the origin of the statistics' times. Absent: 0. */
  readonly originMs?: number;
  readonly random: Random;
  readonly log: Log;
  /** Requests that wait for a replica at once. Absent: MAX_WAITING. */
  readonly maxWaiting?: number;
  /** The first request of a period at the activator: its statistic does not wait for the period's end. */
  readonly onFirstRequest: (stat: Stat) => void;
  /** A replica answers for the first time since it became ready. */
  readonly onFirstResponse: (replica: string) => void;
}

export interface PathFigures {
  /** Requests that arrived since the figures were taken last. */
  readonly offered: number;
  /** Average number of requests inside (waiting and at work) since then. */
  readonly averageConcurrency: number;
  /** Waiting at this moment, in the activator and in replicas' queue-proxies. */
  readonly queued: number;
  /** At work in functions at this moment. */
  readonly inFlight: number;
  readonly perReplica: readonly ReplicaFigures[];
}

export interface ReplicaFigures {
  readonly replica: string;
  readonly inFlight: number;
  readonly queued: number;
}

/** Room for ten thousand events at once, each of which costs about a kilobyte beside its own bytes. */
export const MAX_WAITING = 16_384;

const MAX_ANSWER_BYTES = 1_048_576;
/** A replica that has just ended cuts or refuses connections until the pool has noticed. */
const MAX_TRIES = 3;
const REPEATABLE = new Set(['GET', 'HEAD']);

/**
 * The way of requests to the replicas of one Service or Deployment.
 *
 * Service, as in Knative: while the path is `proxy`, or no replica is ready, a request goes through the
 * activator, which holds it until a replica has a place; else straight to the replicas in turn (as
 * Kourier's Envoy does), each of which has a bounded queue of its own. Deployment, as a Kubernetes
 * Service: any ready replica at random, no limit, and 503 at once where none is ready.
 *
 * `timeoutMs` bounds a request from its arrival to the last byte of its answer: 503 where it still
 * waits, for nothing was begun (upstream's activator says 504), 504 where the function has it; a
 * begun answer is cut.
 */
export class ServicePath {
  readonly name: string;
  readonly #options: ServicePathOptions;
  readonly #activator: Activator | undefined;
  readonly #pickDirectly: LbPolicy;
  /** All that have an address, those that drain too. In the order in which they became ready. */
  readonly #replicas = new Map<string, QueueProxy>();
  #targets: readonly QueueProxy[] = [];
  #path: DataPath = 'proxy';
  readonly #meter: ConcurrencyMeter;
  readonly #deadlines: Deadlines<Exchange>;
  #closed = false;

  constructor(options: ServicePathOptions) {
    const { name, kind, containerConcurrency, clock, random, timeoutMs } = options;
    this.name = name;
    this.#options = options;
    this.#meter = new ConcurrencyMeter(clock.monotonicMs());
    this.#deadlines = new Deadlines(clock, timeoutMs, (exchange) => this.#late(exchange));
    const maxWaiting = options.maxWaiting ?? MAX_WAITING;
    const service = kind === 'Service';
    this.#pickDirectly = service ? roundRobinOfAll() : uniformRandom(random);
    this.#activator = service ? new Activator(containerConcurrency, maxWaiting, random) : undefined;
  }

  /** Replicas that take new requests. */
  get ready(): number {
    return this.#targets.length;
  }

  get queued(): number {
    let queued = this.#activator?.queued ?? 0;
    for (const proxy of this.#replicas.values()) queued += proxy.queued;
    return queued;
  }

  /** At work in functions. */
  get inFlight(): number {
    let inFlight = 0;
    for (const proxy of this.#replicas.values()) inFlight += proxy.atWork;
    return inFlight;
  }

  /** A replica takes requests at `address`, or (undefined) does not any more. */
  setReplica(replica: string, address: ReplicaAddress | undefined): void {
    const before = this.#replicas.get(replica);
    this.#replicas.delete(replica);
    if (address !== undefined && !this.#closed) {
      const { containerConcurrency, kind, clock } = this.#options;
      const concurrency = kind === 'Service' ? containerConcurrency : 0;
      const proxy = new QueueProxy(replica, address, concurrency, clock.monotonicMs());
      this.#replicas.set(replica, proxy);
    }
    this.#retarget();
    if (before === undefined) return;
    for (const exchange of before.exchanges) {
      if (exchange.phase === 'queue') this.#again(exchange);
    }
    void before.close();
  }

  /** Whether the activator is in the path. At first it is. */
  setPath(path: DataPath): void {
    this.#path = path;
  }

  /** Gives it no new request; resolves when it has none, or is gone. */
  async drainReplica(replica: string): Promise<void> {
    const proxy = this.#replicas.get(replica);
    if (proxy === undefined) return;
    proxy.draining = true;
    this.#retarget();
    await proxy.whenIdle();
  }

  /** The whole answer; rejects with a TachographError where there is none. */
  request(request: PathRequest, maxAnswerBytes = MAX_ANSWER_BYTES): Promise<PathAnswer> {
    return new Promise((resolve, reject) => {
      let cancel: Cancel | undefined;
      const collected = { onAnswer: resolve, onError: reject };
      const sink = collectAnswer(this.name, maxAnswerBytes, collected, () => cancel);
      cancel = this.dispatch(request, sink);
    });
  }

  /** The answer piece by piece. */
  dispatch(request: PathRequest, sink: AnswerSink): Cancel {
    const arrivedMs = this.#options.clock.monotonicMs();
    const start = { request, sink, arrivedMs, cold: this.ready === 0 };
    const exchange = new Exchange(start, (waiting) => this.#admitted(waiting));
    if (request.hop !== undefined) request.hop.cold = start.cold;
    this.#meter.enter(arrivedMs, false);
    this.#deadlines.begin(exchange);
    if (this.#closed) this.#fail(exchange, this.#starting());
    else this.#route(exchange);
    return () => this.#over(exchange);
  }

  /** What the proxies say of the period since the last call; `nowMs` since the cluster's start. */
  takeStats(nowMs: number): readonly Stat[] {
    const atMs = this.#options.clock.monotonicMs();
    const stats: Stat[] = [];
    const activator = this.#activator?.report(atMs);
    if (activator !== undefined) stats.push({ atMs: nowMs, from: 'activator', ...activator });
    for (const proxy of this.#replicas.values()) {
      const report = proxy.meter.report(atMs);
      // Pods that are being deleted are not asked.
      if (!proxy.draining) stats.push({ atMs: nowMs, from: 'replica', ...report });
    }
    return stats;
  }

  figures(): PathFigures {
    const report = this.#meter.report(this.#options.clock.monotonicMs());
    return {
      offered: report.requestCount,
      averageConcurrency: report.averageConcurrency,
      queued: this.queued,
      inFlight: this.inFlight,
      perReplica: [...this.#replicas.values()].map(({ replica, atWork, queued }) => ({
        replica,
        inFlight: atWork,
        queued,
      })),
    };
  }

  /** Breaks everything off. */
  async close(): Promise<void> {
    this.#closed = true;
    const proxies = [...this.#replicas.values()];
    this.#replicas.clear();
    this.#retarget();
    for (const exchange of this.#deadlines.items()) this.#fail(exchange, this.#starting());
    this.#deadlines.close();
    await Promise.all(proxies.map((proxy) => proxy.destroy()));
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  #starting(): TachographError {
    return new TachographError('SERVICE_STARTING', { service: this.name });
  }

  #retarget(): void {
    this.#targets = [...this.#replicas.values()].filter(({ draining }) => !draining);
    this.#activator?.setTargets(this.#targets);
  }

  #route(exchange: Exchange): void {
    const activator = this.#activator;
    const inPath = exchange.proxied || this.#path === 'proxy' || this.#targets.length === 0;
    if (activator !== undefined && inPath) {
      this.#throughActivator(activator, exchange);
      return;
    }
    const target = this.#pickDirectly(this.#targets);
    if (target === undefined) this.#fail(exchange, this.#starting());
    else this.#forward(exchange, target);
  }

  #throughActivator(activator: Activator, exchange: Exchange): void {
    if (!exchange.proxied) {
      exchange.proxied = true;
      this.#tellFirst(activator.arrive(exchange.arrivedMs));
    }
    exchange.phase = 'activator';
    exchange.request.hop?.wait('activator', this.#nowMs());
    const answer = activator.offer(exchange);
    if (answer === 'admitted') this.#forward(exchange, activator.take());
    else if (answer === 'refused') this.#refuse(exchange, activator.queued);
  }

  #tellFirst(report: ConcurrencyReport | undefined): void {
    if (report === undefined) return;
    const { originMs = 0, onFirstRequest } = this.#options;
    onFirstRequest({ atMs: this.#nowMs() - originMs, from: 'activator', ...report });
  }

  /** A breaker in which it waited lets it through. */
  #admitted(exchange: Exchange): void {
    if (exchange.phase === 'queue') this.#send(exchange);
    else if (this.#activator !== undefined) this.#forward(exchange, this.#activator.take());
  }

  #forward(exchange: Exchange, target: QueueProxy): void {
    exchange.target = target;
    exchange.phase = 'queue';
    const nowMs = this.#nowMs();
    exchange.admittedMs = nowMs;
    exchange.request.hop?.wait('queue', nowMs);
    const answer = target.enter(exchange, nowMs);
    if (answer === 'admitted') this.#send(exchange);
    else if (answer === 'refused') this.#refuse(exchange, target.queued);
  }

  #refuse(exchange: Exchange, queued: number): void {
    const fields = { service: this.name, queued };
    this.#fail(exchange, new TachographError('SERVICE_OVERLOADED', fields));
  }

  #send(exchange: Exchange): void {
    exchange.phase = 'sent';
    exchange.sentMs = this.#nowMs();
    sendExchange(exchange, {
      service: this.name,
      clock: this.#options.clock,
      onAnswering: (target) => this.#answering(target),
      onOutcome: (outcome) => this.#outcome(exchange, outcome),
    });
  }

  #answering(target: QueueProxy): void {
    if (target.answered) return;
    target.answered = true;
    this.#options.onFirstResponse(target.replica);
  }

  #outcome(exchange: Exchange, outcome: SendOutcome): void {
    if (outcome.kind === 'done') {
      this.#over(exchange);
      exchange.sink.onEnd();
      return;
    }
    const { target } = exchange;
    const refused = outcome.failure === 'refused';
    if (refused && target !== undefined) this.#drop(target);
    const harmless =
      refused || (outcome.failure === 'cut' && REPEATABLE.has(exchange.request.method));
    if (harmless && !exchange.answering && exchange.tries < MAX_TRIES) {
      exchange.tries += 1;
      this.#again(exchange);
    } else {
      this.#fail(exchange, outcome.error);
    }
  }

  /** It takes no connections: no request goes there until it is reported ready again. */
  #drop(target: QueueProxy): void {
    const { replica } = target;
    // By now another process may be ready under the same name.
    if (this.#replicas.get(replica) !== target) return;
    this.#options.log.warn('a replica takes no connections', { service: this.name, replica });
    this.setReplica(replica, undefined);
  }

  /** Another way for a request of which nothing has come back. */
  #again(exchange: Exchange): void {
    this.#leaveTarget(exchange);
    this.#route(exchange);
  }

  #late(exchange: Exchange): void {
    const { timeoutMs: limitMs } = this.#options;
    const service = this.name;
    if (exchange.phase === 'sent') {
      this.#fail(exchange, new TachographError('SERVICE_TIMEOUT', { service, limitMs }));
    } else if (this.ready === 0) {
      this.#fail(exchange, this.#starting());
    } else {
      this.#fail(exchange, new TachographError('SERVICE_BUSY', { service, limitMs }));
    }
  }

  #fail(exchange: Exchange, error: TachographError): void {
    if (exchange.phase === 'over') return;
    this.#over(exchange);
    exchange.sink.onError(error);
  }

  /** Gives back all it holds, wherever it is; nothing more comes to its sink. */
  #over(exchange: Exchange): void {
    const { phase, controller } = exchange;
    if (phase === 'over') return;
    if (phase === 'activator') this.#activator?.cancel(exchange);
    exchange.phase = 'over';
    const nowMs = this.#nowMs();
    exchange.request.hop?.over(nowMs);
    controller?.abort(new Error('The request was broken off'));
    this.#leaveTarget(exchange);
    if (exchange.proxied) this.#activator?.depart(nowMs);
    this.#meter.leave(nowMs, false);
    this.#deadlines.end(exchange);
  }

  #leaveTarget(exchange: Exchange): void {
    const { target } = exchange;
    if (target === undefined) return;
    exchange.target = undefined;
    exchange.controller = undefined;
    target.leave(exchange, this.#nowMs());
    if (exchange.proxied) this.#activator?.release(target);
  }
}

/** In turn over all of them: who waits at a busy replica waits in that replica's own queue. */
function roundRobinOfAll(): LbPolicy {
  const pick = roundRobin();
  return (targets) => {
    const open = targets.map((target) => ({ target, capacity: 1, inFlight: 0 }));
    return pick(open)?.target;
  };
}
