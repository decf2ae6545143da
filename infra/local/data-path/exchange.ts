import type { Dispatcher } from 'undici';
import type { AnswerSink, PathRequest } from './path-request.ts';
import type { QueueProxy } from './queue-proxy.ts';

export type ExchangePhase = 'arrived' | 'activator' | 'queue' | 'sent' | 'over';

/** One request on its way through a path: where it is, and what must be given back when it is over. */
export class Exchange {
  readonly request: PathRequest;
  readonly sink: AnswerSink;
  readonly arrivedMs: number;
  /** No replica was ready when it arrived. */
  readonly cold: boolean;
  phase: ExchangePhase = 'arrived';
  /** It came through the activator, which counts it until it is over. */
  proxied = false;
  target: QueueProxy | undefined;
  admittedMs = 0;
  sentMs = 0;
  tries = 1;
  answering = false;
  controller: Dispatcher.DispatchController | undefined;
  /** What the breaker calls in which it waits; one and the same function, by which it is taken out. */
  readonly admit: () => void;

  constructor(
    start: Pick<Exchange, 'request' | 'sink' | 'arrivedMs' | 'cold'>,
    onAdmit: (exchange: Exchange) => void,
  ) {
    this.request = start.request;
    this.sink = start.sink;
    this.arrivedMs = start.arrivedMs;
    this.cold = start.cold;
    this.admit = () => onAdmit(this);
  }
}
