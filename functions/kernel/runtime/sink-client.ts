import { Agent, request, type ClientRequest, type RequestOptions } from 'node:http';

/** As many requests at once as a stage has connections to its sink; the rest wait. */
const MAX_CONNECTIONS = 16;
/** Of silence. */
const TIMEOUT_MS = 10_000;

/**
 * Posts events to one sink over connections that stay open.
 *
 * Node's own client: a call costs some 15 µs more than with undici, whose import costs a cold start 30 ms:
 * as much as two thousand calls (decision 9).
 */
export class SinkClient {
  readonly #url: URL;
  #agent: Promise<Transport> | undefined;

  constructor(url: URL) {
    this.#url = url;
  }

  /**
   * Resolves with the status of the answer, when it is complete. A connection that the sink had closed
   * while it was idle is replaced once: an event sent twice is recognised by its id.
   *
   * `onSent`: the request has a connection, open or being opened, and waits for no other one any more.
   */
  async post(
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    onSent: () => void = () => {},
  ): Promise<number> {
    const transport = await (this.#agent ??= openTransport(this.#url));
    try {
      return await this.#postOnce(transport, headers, body, onSent);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      return this.#postOnce(transport, headers, body, onSent);
    }
  }

  #postOnce(
    { agent, send }: Transport,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    onSent: () => void,
  ): Promise<number> {
    const { hostname, port, pathname, search } = this.#url;
    return new Promise((resolve, reject) => {
      const call = send({
        agent,
        hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
        port,
        path: pathname + search,
        method: 'POST',
        headers: { ...headers, 'content-length': body.length },
        timeout: TIMEOUT_MS,
      });
      call.once('socket', onSent);
      call.once('response', (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode ?? 0));
        answer.once('error', reject);
      });
      call.once('timeout', () => call.destroy(new Error(`no answer for ${TIMEOUT_MS} ms`)));
      call.once('error', (error: NodeJS.ErrnoException) => {
        const stale = call.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
        reject(stale ? new StaleConnection(error.message, { cause: error }) : error);
      });
      call.end(body);
    });
  }

  /** Ends the connections; nothing may be in flight. */
  async close(): Promise<void> {
    (await this.#agent)?.agent.destroy();
  }
}

class StaleConnection extends Error {}

interface Transport {
  readonly agent: Agent;
  readonly send: (options: RequestOptions) => ClientRequest;
}

async function openTransport({ protocol }: URL): Promise<Transport> {
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS } as const;
  if (protocol !== 'https:') return { agent: new Agent(options), send: request };
  // Loaded by those who need it: TLS is a large part of Node's own start.
  const https = await import('node:https');
  return { agent: new https.Agent(options), send: https.request };
}
