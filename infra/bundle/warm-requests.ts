import { CATALOG, eventType, type StageName } from '#eventing/contracts/catalog.ts';
import { eventToBinary } from '#eventing/contracts/codec.ts';

export interface WarmRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Fields of every event there is: names of things that no store holds. */
const DATA = {
  vehicle: 'warm-up',
  session: 's1',
  seq: 0,
  window: 0,
  revision: 1,
  versions: '1',
};

const NOTHING = new Uint8Array();

/**
 * What a program is asked once before its compiled code is kept: every way in, so that what a first
 * request needs is among it. The answers do not matter; nothing asked for exists.
 */
export function warmRequests(): readonly WarmRequest[] {
  const get = (path: string): WarmRequest => ({ method: 'GET', path, headers: {}, body: NOTHING });
  const event = (type: string, path = '/'): WarmRequest => {
    const { headers, body } = eventToBinary({
      id: `warm-up/${type}`,
      source: '/warm-up',
      type,
      subject: DATA.vehicle,
      time: '2026-01-01T00:00:00.000Z',
      datacontenttype: 'application/json',
      extensions: { partitionkey: DATA.vehicle, traceparent: TRACEPARENT },
      data: Buffer.from(JSON.stringify(DATA)),
    });
    return { method: 'POST', path, headers, body };
  };
  const consumers = (stage: StageName): string =>
    CATALOG.find(({ consumers: names }) => names.includes(stage))?.type ??
    eventType('window.ready.v1');
  return [
    get('/healthz'),
    ...CATALOG.map(({ type }) => event(type)),
    event(consumers('export'), '/dead-letter'),
    // The faces to vehicles and engineers, as far as one comes without a token.
    event('io.tachograph.batch.recorded.v1', `/v1/vehicles/${DATA.vehicle}/batches`),
    get('/v1/campaigns'),
    get('/v1/datasets/warm-up'),
    get('/metrics'),
  ];
}

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
