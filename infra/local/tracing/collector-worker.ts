import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '#kernel/core/assert.ts';
import { startCollectorServer } from './collector-server.ts';
import { SpanIntake } from './span-intake.ts';
import { TRACING_FILE, type TracingFile } from './tracing-file.ts';

export type CollectorWord =
  | { readonly kind: 'listening'; readonly url: string }
  | {
      readonly kind: 'closed';
      readonly account: TracingFile;
      /** Why spans are missing from some moment on; absent: none are. */
      readonly problem: string | undefined;
    };

/**
 * The collector in a thread of its own: to parse half a megabyte of spans stops an event loop for some
 * ms, and the cluster's is the way of every request.
 */
const port = must(parentPort, 'the collector runs in a thread of its own');
const { folder } = workerData as { readonly folder: string };
const tell = (word: CollectorWord): void => port.postMessage(word);

const intake = new SpanIntake(folder);
const server = await startCollectorServer(intake);
tell({ kind: 'listening', url: server.url });

async function close(): Promise<void> {
  await server.close();
  intake.close();
  const account = intake.account();
  const text = `${JSON.stringify(account, undefined, 2)}\n`;
  writeFileSync(join(folder, TRACING_FILE), text, { mode: 0o600 });
  tell({ kind: 'closed', account, problem: intake.problem });
}

port.once('message', () => void close());
