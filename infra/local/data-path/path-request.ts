import type { HopNotes } from '#eventing/dispatch/hop-notes.ts';
import type { TachographError } from '#kernel/core/errors.ts';

/** A request to a Service, read whole. */
export interface PathRequest {
  readonly method: string;
  readonly path: string;
  /** What of one connection only (RFC 9110, 7.6.1) must have been taken out. */
  readonly headers: readonly string[] | Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** Told where the request is; absent: it is not traced. */
  readonly hop?: HopNotes;
}

/** When a request was where; monotonic ms. */
export interface RequestTiming {
  readonly arrivedMs: number;
  /** It had its place at a replica: before, it waited in the activator. */
  readonly admittedMs: number;
  /** It went to the function: before, it waited in the replica's queue-proxy. */
  readonly sentMs: number;
  /** The answer began. */
  readonly headersMs: number;
  /** No replica was ready when it arrived. */
  readonly cold: boolean;
  readonly replica: string;
}

/** The head of an answer. Headers as `name, value, name, value …`, with repetitions. */
export interface AnswerHead {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly timing: RequestTiming;
}

/** Lets whoever takes an answer slow it down. */
export interface AnswerFlow {
  pause(): void;
  resume(): void;
}

/**
 * Takes one answer piece by piece: `onHead`, `onData`…, then exactly one of `onEnd` and `onError`. An
 * error may come before the head (there is no answer) or after it (half of one). After a cancel nothing
 * comes any more.
 */
export interface AnswerSink {
  onHead(head: AnswerHead, flow: AnswerFlow): void;
  onData(piece: Buffer): void;
  onEnd(): void;
  onError(error: TachographError): void;
}

/** A whole answer. */
export interface PathAnswer extends AnswerHead {
  readonly body: Buffer;
}

/** Breaks a request off, wherever it is; the function's connection is closed. May be repeated. */
export type Cancel = () => void;
