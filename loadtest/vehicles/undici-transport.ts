import { Pool } from 'undici';
import { checkinBody } from './checkin.ts';
import type { Dispatcher } from 'undici';
import type { Answer } from './upload-verdict.ts';
import type { VehicleTransport } from './vehicle-transport.ts';

export interface TransportOptions {
  /** `http://127.0.0.1:PORT/device-communication`: routes are appended to its path. */
  readonly serviceUrl: string;
  /** Vehicle → bearer token. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly connections: number;
}

/** Covers a cold start and a full queue; a vehicle asks again after it. */
const ANSWER_TIMEOUT_MS = 60_000;
/** An answer is a receipt or a handful of campaigns. */
const MAX_ANSWER_BYTES = 1_048_576;

/** Vehicles on one undici pool: connection reuse, no retries of its own, no redirects. */
export class UndiciTransport implements VehicleTransport {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #tokens: ReadonlyMap<string, string>;

  constructor(options: TransportOptions) {
    const url = new URL(options.serviceUrl);
    this.#path = url.pathname.replace(/\/$/, '');
    this.#tokens = options.tokens;
    this.#pool = new Pool(url.origin, {
      connections: options.connections,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
  }

  checkIn: VehicleTransport['checkIn'] = (vehicle, report, signal) =>
    this.#post(
      vehicle,
      'checkins',
      { 'content-type': 'application/json' },
      checkinBody(report),
      signal,
    );

  upload: VehicleTransport['upload'] = ({ vehicle, headers, body }, signal) =>
    this.#post(vehicle, 'batches', headers, body, signal);

  async #post(
    vehicle: string,
    route: string,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
    signal: AbortSignal,
  ): Promise<Answer> {
    const answer = await this.#pool.request({
      method: 'POST',
      path: `${this.#path}/v1/vehicles/${encodeURIComponent(vehicle)}/${route}`,
      headers: { ...headers, authorization: `Bearer ${this.#tokens.get(vehicle) ?? ''}` },
      body,
      signal,
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: await boundedText(answer.body),
    };
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

async function boundedText(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is over ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
