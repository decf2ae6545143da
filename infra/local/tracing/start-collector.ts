import { mkdir } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { Log } from '#kernel/system/log.ts';
import type { CollectorWord } from './collector-worker.ts';
import type { TracingFile } from './tracing-file.ts';

export interface Collector {
  /** Where exporters send OTLP/JSON. */
  readonly url: string;
  /** Writes the account and ends; undefined where it could not. May be repeated. */
  close(): Promise<TracingFile | undefined>;
}

/**
 * Starts the collector that keeps spans in `folder`, which is made where it is not there. Rejects where
 * its file cannot be made.
 */
export async function startCollector(folder: string, log: Log): Promise<Collector> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const worker = new Worker(new URL('./collector-worker.ts', import.meta.url), {
    workerData: { folder },
  });
  const listening = Promise.withResolvers<string>();
  const closed = Promise.withResolvers<Extract<CollectorWord, { kind: 'closed' }>>();
  // Nobody may wait for them when the thread ends.
  listening.promise.catch(() => undefined);
  closed.promise.catch(() => undefined);
  worker.on('message', (word: CollectorWord) => {
    if (word.kind === 'listening') listening.resolve(word.url);
    else closed.resolve(word);
  });
  const fail = (error: Error): void => {
    listening.reject(error);
    closed.reject(error);
  };
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('the collector of spans has ended')));
  const url = await listening.promise;
  const close = async (): Promise<TracingFile | undefined> => {
    try {
      worker.postMessage('close', []);
      const { account, problem } = await closed.promise;
      if (problem !== undefined)
        log.error('spans are missing from some moment on', { why: problem });
      return account;
    } catch (error) {
      log.error('the collector of spans failed', { why: String(error) });
      return undefined;
    } finally {
      await worker.terminate();
    }
  };
  let ended: Promise<TracingFile | undefined> | undefined;
  return { url, close: () => (ended ??= close()) };
}
