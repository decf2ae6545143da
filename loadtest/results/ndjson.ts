import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** Records as NDJSON: one JSON object a line. */
export const toNdjson = (records: Iterable<unknown>): string =>
  [...records].map((record) => `${JSON.stringify(record)}\n`).join('');

/** Reads NDJSON; rejects with the line's number where one cannot be read. */
export async function* readNdjson<T>(path: string): AsyncGenerator<T> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line === '') continue;
    try {
      yield JSON.parse(line) as T;
    } catch (error) {
      throw new Error(`${path}:${number} is not JSON`, { cause: error });
    }
  }
}
