import type { Sender, SenderOptions, SendResult } from '#eventing/dispatch/event-sender.ts';
import type { HopNotes } from '#eventing/dispatch/hop-notes.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { errorBody, type TachographError } from '#kernel/core/errors.ts';
import { collectAnswer } from './collect-answer.ts';
import { Deadlines } from './deadlines.ts';
import { RETRY_AFTER_S } from './gateway.ts';
import type { Cancel, PathAnswer } from './path-request.ts';
import type { ServicePath } from './service-path.ts';

interface Delivery {
  cancel: Cancel | undefined;
  readonly resolve: (result: SendResult) => void;
}

/**
 * Takes events to a Service of this process without HTTP between: what the gateway would answer, without
 * its hop. A delivery that is cut, or not done after the Trigger's time-out, is broken off down to the
 * function's connection.
 */
export class PathSender implements Sender {
  readonly url: string;
  readonly #path: ServicePath;
  readonly #requestPath: string;
  readonly #maxAnswerBytes: number;
  readonly #deliveries: Deadlines<Delivery>;

  /** `requestPath` is what the function sees; `url` is the same place at the gateway, for people. */
  constructor(
    path: ServicePath,
    requestPath: string,
    url: string,
    { timeoutMs, maxAnswerBytes, clock }: SenderOptions & { readonly clock: Clock },
  ) {
    this.url = url;
    this.#path = path;
    this.#requestPath = requestPath;
    this.#maxAnswerBytes = maxAnswerBytes;
    const detail = `no answer within ${timeoutMs} ms`;
    this.#deliveries = new Deadlines(clock, timeoutMs, (delivery) =>
      this.#end(delivery, { kind: 'failure', aborted: false, detail }),
    );
  }

  send(
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    onStart: (cut: (reason: Error) => void) => void,
    hop?: HopNotes,
  ): Promise<SendResult> {
    return new Promise((resolve) => {
      const delivery: Delivery = { cancel: undefined, resolve };
      this.#deliveries.begin(delivery);
      onStart(({ message: detail }) =>
        this.#end(delivery, { kind: 'failure', aborted: false, detail }),
      );
      const sink = collectAnswer(
        this.#path.name,
        this.#maxAnswerBytes,
        {
          onAnswer: (answer) => this.#end(delivery, resultOf(answer)),
          onError: (error) => this.#end(delivery, refusalOf(error)),
        },
        () => delivery.cancel,
      );
      const traced = hop === undefined ? {} : { hop };
      const request = { method: 'POST', path: this.#requestPath, headers, body, ...traced };
      delivery.cancel = this.#path.dispatch(request, sink);
    });
  }

  async destroy(): Promise<void> {
    const detail = 'the sender was destroyed';
    for (const delivery of this.#deliveries.items()) {
      this.#end(delivery, { kind: 'failure', aborted: true, detail });
    }
    this.#deliveries.close();
  }

  #end(delivery: Delivery, result: SendResult): void {
    this.#deliveries.end(delivery);
    delivery.cancel?.();
    delivery.resolve(result);
  }
}

function resultOf({ status, rawHeaders, body }: PathAnswer): SendResult {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers[rawHeaders[index]?.toLowerCase() ?? ''] = rawHeaders[index + 1] ?? '';
  }
  return { kind: 'answer', status, headers, body };
}

/** As the gateway answers it. An answer that is too large is none, as it is by HTTP. */
function refusalOf(error: TachographError): SendResult {
  if (error.code === 'SERVICE_ANSWER_TOO_LARGE') {
    return { kind: 'failure', aborted: false, detail: error.message };
  }
  const retryAfter = error.kind === 'retry' ? { 'retry-after': RETRY_AFTER_S } : {};
  return {
    kind: 'answer',
    status: error.status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...retryAfter },
    body: Buffer.from(JSON.stringify(errorBody(error))),
  };
}
