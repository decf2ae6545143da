import { type ChildProcess, spawn } from 'node:child_process';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A running `write-facts.ts`. */
export interface WriterProcess {
  /** Lets it begin. */
  start(): void;
  /** Its next line; undefined after the last. */
  nextLine(): Promise<string | undefined>;
  /** All lines to its end; rejects when it failed. */
  rest(): Promise<string[]>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts a writer and waits until it has opened the store. */
export async function startWriter(
  url: string,
  facts: number,
  bytes: number,
): Promise<WriterProcess> {
  const script = fileURLToPath(new URL('write-facts.ts', import.meta.url));
  const child = spawn(execPath, [script, url, String(facts), String(bytes)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000);
  });
  const ended = endOf(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string | undefined> => {
    const { done, value } = await lines.next();
    return done === true ? undefined : value;
  };
  const ready = await nextLine();
  if (ready !== 'ready') throw new Error(`The writer did not start: ${errors}`);
  return {
    start: () => child.stdin.write('go\n'),
    nextLine,
    rest: async () => {
      const all: string[] = [];
      for (let line = await nextLine(); line !== undefined; line = await nextLine()) all.push(line);
      if ((await ended) !== 0) throw new Error(`The writer failed: ${errors}`);
      return all;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const endOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('close', (code) => resolve(code)));
