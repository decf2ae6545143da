import { request } from 'node:http';
import type { ReplicaAddress } from '#infra/local/data-path/replica-address.ts';
import type { ServiceStatus } from '#infra/local/replicas/pool-workload.ts';

/** Where a stage answers with its metrics. */
const PATH = '/metrics';
/** A replica that is busy for longer is left out this time. */
const TIMEOUT_MS = 2_000;
const MAX_BYTES = 4_194_304;
/** Asked at once. */
const MAX_AT_ONCE = 16;

/** The texts of all replicas that are ready and answer; each is asked past the gateway. */
export async function scrapeReplicas(services: readonly ServiceStatus[]): Promise<string[]> {
  const addresses = services.flatMap(({ replicas }) =>
    replicas.flatMap(({ phase, address }) =>
      phase === 'ready' && address !== undefined ? [address] : [],
    ),
  );
  const texts: string[] = [];
  for (let at = 0; at < addresses.length; at += MAX_AT_ONCE) {
    const some = addresses.slice(at, at + MAX_AT_ONCE);
    const answers = await Promise.all(some.map((address) => scrape(address)));
    texts.push(...answers.filter((text) => text !== undefined));
  }
  return texts;
}

/** undefined: no proper answer in time. */
function scrape(address: ReplicaAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    const call = request(
      { ...address, path: PATH, agent: false, timeout: TIMEOUT_MS },
      (answer) => {
        const pieces: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (bytes > MAX_BYTES) call.destroy();
          else pieces.push(piece);
        });
        answer.once('end', () =>
          resolve(answer.statusCode === 200 ? Buffer.concat(pieces).toString('utf8') : undefined),
        );
        answer.once('close', () => resolve(undefined));
      },
    );
    call.once('timeout', () => call.destroy());
    call.once('error', () => resolve(undefined));
    call.end();
  });
}
