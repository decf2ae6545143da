import type { Dispatcher } from 'undici';
import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { formatRequestStart, REQUEST_START } from '#kernel/core/request-start.ts';
import type { Exchange } from './exchange.ts';
import type { QueueProxy } from './queue-proxy.ts';

/**
 * `refused`: the replica took no connection, so that it cannot have begun. `cut`: the connection ended
 * before the answer did. `invalid`: it cannot be written as HTTP.
 */
export type SendOutcome =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'failed';
      readonly failure: 'refused' | 'cut' | 'invalid' | 'other';
      readonly error: TachographError;
    };

export interface SendOptions {
  readonly service: string;
  readonly clock: Clock;
  /** The head of an answer has come. */
  readonly onAnswering: (target: QueueProxy) => void;
  /** Once, unless the exchange is over by then or goes another way. */
  readonly onOutcome: (outcome: SendOutcome) => void;
}

/** Nobody listens, or the unix socket's file is gone. */
const REFUSED_CODES = new Set(['ECONNREFUSED', 'ENOENT']);
const CUT_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
/** The client library's words for a request that cannot be written as HTTP. */
const INVALID_CODES = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
]);

/**
 * Sends a request that has its place to its replica and passes the answer to its sink, but for the end.
 *
 * undici's dispatch with a handler: a pool's request costs 10 % more CPU, a signal per call half as much
 * again.
 */
export function sendExchange(exchange: Exchange, options: SendOptions): void {
  const { target, request } = exchange;
  if (target === undefined) throw new Error('A request without a replica cannot be sent');
  const { method, path, body } = request;
  const handler = handlerOf(exchange, target, options);
  const sent = { method, path, headers: headersOf(exchange, target), body };
  try {
    target.pool.dispatch(sent, handler);
  } catch (error) {
    if (exchange.target !== target) return;
    options.onOutcome(failed(options.service, error as Error));
  }
}

/** A traced request tells its process when it was sent there. */
function headersOf({ request, sentMs }: Exchange, { replica }: QueueProxy) {
  const { headers, hop } = request;
  if (hop === undefined) return headers as string[] | Record<string, string>;
  const sent = formatRequestStart(hop.sent(sentMs, replica));
  return Array.isArray(headers)
    ? [...headers, REQUEST_START, sent]
    : { ...(headers as Record<string, string>), [REQUEST_START]: sent };
}

function handlerOf(
  exchange: Exchange,
  target: QueueProxy,
  { service, clock, onAnswering, onOutcome }: SendOptions,
): Dispatcher.DispatchHandler {
  // A request that was broken off, or took another way, hears nothing of this one any more.
  const { tries } = exchange;
  const isCurrent = (): boolean =>
    exchange.target === target && exchange.tries === tries && exchange.phase === 'sent';
  return {
    onRequestStart: (controller) => {
      if (isCurrent()) exchange.controller = controller;
      else controller.abort(new Error('The request was broken off'));
    },
    onResponseStart: (controller, status) => {
      if (status < 200 || !isCurrent()) return;
      exchange.answering = true;
      onAnswering(target);
      const timing = {
        arrivedMs: exchange.arrivedMs,
        admittedMs: exchange.admittedMs,
        sentMs: exchange.sentMs,
        headersMs: clock.monotonicMs(),
        cold: exchange.cold,
        replica: target.replica,
      };
      const rawHeaders = namesAndValues(controller.rawHeaders);
      exchange.sink.onHead({ status, rawHeaders, timing }, controller);
    },
    onResponseData: (_, piece) => {
      if (isCurrent()) exchange.sink.onData(piece);
    },
    onResponseEnd: () => {
      if (!isCurrent()) return;
      exchange.controller = undefined;
      onOutcome({ kind: 'done' });
    },
    onResponseError: (_, error) => {
      if (!isCurrent()) return;
      exchange.controller = undefined;
      onOutcome(failed(service, error));
    },
  };
}

/** Latin-1 keeps every byte as it is, and is what the answer is written with. */
function namesAndValues(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((text) => (typeof text === 'string' ? text : text.toString('latin1')));
}

function failed(service: string, cause: Error): SendOutcome {
  const code = String((cause as { code?: unknown }).code);
  const failure = failureOf(code);
  const error =
    failure === 'invalid'
      ? new TachographError('REQUEST_INVALID', { detail: cause.message }, { cause })
      : new TachographError('SERVICE_UNREACHABLE', { service }, { cause });
  return { kind: 'failed', failure, error };
}

function failureOf(code: string): 'refused' | 'cut' | 'invalid' | 'other' {
  if (REFUSED_CODES.has(code)) return 'refused';
  if (CUT_CODES.has(code)) return 'cut';
  return INVALID_CODES.has(code) ? 'invalid' : 'other';
}
