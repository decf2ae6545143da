import process from 'node:process';
import type { TestProject } from 'vitest/node';
import { startMongoServer } from './mongo-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** For `*.mongo.test.ts`: a server's URL, or null and the reason. */
    readonly mongoServer: { readonly url: string | null; readonly reason: string };
  }
}

/** Starts what several test files share, once a run, and only when a chosen file needs it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!(await needsMongo(project))) {
    project.provide('mongoServer', { url: null, reason: 'no test file asked for one' });
    return async () => {};
  }
  const server = await startMongoServer(process.env);
  const { url, reason } = server;
  if (url === null && process.env['CI'] !== undefined) {
    throw new Error(`No MongoDB server for the store's tests: ${reason}`);
  }
  if (url === null) process.stderr.write(`Skipped, no MongoDB server: ${reason}\n`);
  project.provide('mongoServer', { url, reason });
  return () => server.stop();
}

/** True where a chosen test file ends in `.mongo.test.ts`. */
async function needsMongo(project: TestProject): Promise<boolean> {
  // vitest keeps the command line's filters in a field outside its types; without it all files
  // count.
  const { filenamePattern } = project.vitest as { filenamePattern?: string[] };
  const { testFiles } = await project.globTestFiles(filenamePattern);
  return testFiles.some((file) => file.endsWith('.mongo.test.ts'));
}
