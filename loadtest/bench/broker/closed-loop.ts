import { eventToBinary, eventToStructured } from '#eventing/contracts/codec.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { Pool } from 'undici';
import type { Mode } from './bench-process.ts';
import { CONNECTIONS, listenToParent, say } from './bench-process.ts';

/** Posts a fixed number of events, the next one as soon as an answer is there, then says so. */

/** Bytes of JSON data, one after another: our own events have 60 to 120, others' rather more. */
const DATA_BYTES = [200, 500, 1_000, 2_000];

const data = DATA_BYTES.map((size) => {
  const row = { n: 1, v: 12.5, q: 'ok' };
  const rows = Array.from({ length: Math.ceil(size / JSON.stringify(row).length) }, () => row);
  return Buffer.from(JSON.stringify({ rows }));
});

const event = (index: number, round: string): CloudEvent => ({
  id: `bench/${round}/${index}`,
  source: '/bench',
  type: 'bench.happened.v1',
  subject: 'veh-1',
  time: '2026-11-30T22:43:01.123Z',
  datacontenttype: 'application/json',
  extensions: { partitionkey: 'veh-1', tachointended: '1796164981123' },
  data: data[index % data.length] as Buffer,
});

async function run(url: string, mode: Mode, round: string, events: number): Promise<number> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: CONNECTIONS });
  let next = 0;
  let refused = 0;
  const post = async (): Promise<void> => {
    while (next < events) {
      const one = event(next++, round);
      const { headers, body } =
        mode === 'lean'
          ? eventToBinary(one)
          : {
              headers: { 'content-type': 'application/cloudevents+json' },
              body: eventToStructured(one),
            };
      const answer = await pool.request({ method: 'POST', path: pathname, headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 202) refused++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, post));
  await pool.close();
  return refused;
}

listenToParent((message) => {
  if (message.kind !== 'send') return;
  const { url, mode, round, events } = message;
  void run(url, mode, round, events).then((refused) => say({ kind: 'sent', refused }));
});
say({ kind: 'ready', port: 0 });
