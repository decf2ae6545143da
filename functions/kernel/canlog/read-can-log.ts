import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { CanLogOptions } from './can-log-reader.ts';
import { CanLogReader } from './can-log-reader.ts';

/**
 * Opens a candump log, plain or gzip (told by its first two bytes, not by its name), and streams
 * it. Iterate once over the result; `faults` and the counts are complete when the iteration has
 * ended. A file that cannot be read rejects the iteration with the system's error.
 */
export function readCanLog(path: string, options: CanLogOptions = {}): CanLogReader {
  return new CanLogReader(chunksOf(path), options);
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  const gzip = await isGzip(path);
  const file = createReadStream(path);
  const content = gzip ? gunzipOf(file) : file;
  try {
    for await (const chunk of content) yield chunk as Uint8Array;
  } finally {
    // The reader may stop early: neither stream may stay open behind it.
    content.destroy();
    file.destroy();
  }
}

function gunzipOf(file: Readable): Readable {
  const gunzip = createGunzip();
  file.once('error', (error) => gunzip.destroy(error));
  return file.pipe(gunzip);
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}
